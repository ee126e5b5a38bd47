"""Workers that run tests side by side must not empty each other's stores."""

import os
from pathlib import Path

from django.conf import settings
from django.db import connections

TESTS = Path(__file__).resolve().parents[1]


def test_each_worker_has_stores_of_its_own(databases: None) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    number = int(worker.removeprefix("gw")) + 1 if worker else 0
    assert settings.REDIS_URL.endswith(f"db={number}")
    for connection in connections.all():
        assert str(connection.settings_dict["NAME"]).endswith(worker or "")


def test_none_flushes_the_databases_of_the_others() -> None:
    """Tests in `faults` have servers of their own."""
    modules = [path for path in TESTS.rglob("*.py") if not path.is_relative_to(TESTS / "faults")]
    flush_all = "FLUSH" + "ALL"
    assert [str(path) for path in modules if f'"{flush_all}"' in path.read_text()] == []
