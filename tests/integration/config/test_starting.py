"""`make run` on data of another version of Tideline: one clear message, and nothing is changed.

A web server that is started together with its worker is ready when the worker delivers.

The first and the last line of a web server's log.
"""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from accounts.models import User
from infra.changes.running_drainers import forget_drainer, report_drainer
from infra.sharding.identity import HAS_TABLE, read_identity
from infra.sharding.shards import all_aliases
from infra.version import VERSION
from lab.runner import prepare as module
from lab.runner.errors import DataOfOtherVersion
from lab.runner.prepare import prepare, refuse_other_version
from operations.demo.community import PASSWORD
from operations.demo.load import USERNAME, ensure_operator
from tests.clocks import Clock, StandInTime
from tests.faults.hung_world import environment_of, serving
from tests.integration.config.digests import rows_digest
from tests.other_process import environment_of_this_test
from tests.world import make_account
from web import health


@pytest.fixture
def record(world):
    """Records migrations as applied; they are removed after the test."""
    recorded = []

    def record(alias, app, name):
        recorder = MigrationRecorder(connections[alias])
        recorder.record_applied(app, name)
        recorded.append((recorder, app, name))

    yield record
    for recorder, app, name in recorded:
        recorder.record_unapplied(app, name)


def test_data_of_this_version_is_accepted(world):
    for alias in all_aliases():
        refuse_other_version(alias)


@pytest.mark.parametrize(
    ("app", "name"),
    [("relations", "0002_of_an_older_layout"), ("an_app_that_was_renamed", "0001_initial")],
)
def test_unknown_migration_is_refused_with_the_remedy(record, monkeypatch, app, name):
    monkeypatch.setattr(module, "call_command", lambda *_, **__: pytest.fail("it went on"))
    record("shard1", app, name)
    before = rows_digest()
    with pytest.raises(DataOfOtherVersion) as refused:
        prepare()
    message = str(refused.value)
    assert f"the database shard1 records the migration {app}.{name}" in message
    assert "make clean" in message
    assert "DATA_DIR=" in message
    assert rows_digest() == before


def test_old_migration_of_a_package_is_accepted(record):
    record("default", "axes", "0000_of_an_older_release")
    refuse_other_version("default")


def test_operator_is_created_once_and_may_sign_in_to_the_admin(world):
    for _ in range(2):
        assert ensure_operator(datetime.now(UTC)) == USERNAME
    user = User.objects.get(username=USERNAME)
    assert user.check_password(PASSWORD) and user.is_staff and user.is_superuser


def test_no_operator_is_created_next_to_another_superuser(world):
    User.objects.filter(pk=make_account("root")).update(is_superuser=True)
    assert ensure_operator(datetime.now(UTC)) is None
    assert not User.objects.filter(username=USERNAME).exists()


def test_no_statement_asks_for_the_identity_of_a_database_without_tables():
    """PostgreSQL writes each such statement into its log, and each process asks again and again."""
    asked = []

    class Driver:
        def execute(self, sql):
            asked.append(sql)
            return SimpleNamespace(fetchone=lambda: (False,))

    assert read_identity(SimpleNamespace(alias="new", connection=Driver())) is None
    assert asked == [HAS_TABLE]


@pytest.fixture
def clock(world: None, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(health, "time", StandInTime(clock))
    monkeypatch.setattr(health._Waiting, "until_s", 0.0)
    return clock


def ready() -> tuple[int, str]:
    answer = Client().get("/health/ready")
    return answer.status_code, answer.json()["status"]


def test_it_is_ready_when_a_worker_has_reported_and_stays_so_without_one(clock: Clock) -> None:
    health.wait_for_delivery()
    assert ready() == (503, "waiting for a worker")
    report_drainer()
    assert ready() == (200, "ok")
    forget_drainer()
    assert ready() == (200, "ok"), "the compensator delivers"


def test_a_server_that_is_started_while_all_workers_are_away_serves_after_a_minute(
    clock: Clock,
) -> None:
    health.wait_for_delivery()
    clock.now += health.LONGEST_S
    assert ready() == (200, "ok")


def test_a_server_that_was_not_told_to_wait_is_ready_without_a_worker(clock: Clock) -> None:
    assert ready() == (200, "ok")


def test_a_web_server_logs_its_start_and_its_stop(world: None, tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    own = {"INSTANCE_TITLE": "Harbour", "METRICS_TOKEN": "s3cr3t", "RUNTIME_DIR": str(tmp_path)}
    with serving(environment_of(environment_of_this_test() | own), log):
        started = log.read_text()
    for part in ("web.started", VERSION, "Harbour", "METRICS_TOKEN", "127.0.0.1:"):
        assert part in started, started
    assert "s3cr3t" not in started and "web.stopped" not in started
    assert "web.stopped" in log.read_text().splitlines()[-1]
