"""Workers that run tests side by side must not empty each other's stores."""

import os

from django.conf import settings
from django.db import connections


def test_each_worker_has_stores_of_its_own(databases: None) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    number = int(worker.removeprefix("gw")) + 1 if worker else 0
    assert settings.REDIS_URL.endswith(f"db={number}")
    for connection in connections.all():
        assert str(connection.settings_dict["NAME"]).endswith(worker or "")
