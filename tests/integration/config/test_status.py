"""show_status: one screen of everything, in time, whatever is down."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from redis import Redis

from config.periodic import PERIODIC_TASKS
from counters.kinds import CounterKind
from counters.periodic import DRIFT_AUDIT
from infra.caching.scanning import RedisNode
from infra.changes.compensate import drain
from infra.changes.lag import report_lag
from infra.changes.parking import park
from infra.changes.pausing import pause_kind
from infra.changes.periodic import maintain_partitions
from infra.changes.running_drainers import forget_drainer, report_drainer
from infra.jobs.models import JobRun
from infra.sharding import readiness
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from operations.management.commands import show_status
from operations.status import report as module
from operations.status.report import list_down, read_status
from operations.status.status_lines import _kept, format_status
from relations.actions.follow import follow
from tests.integration.changes.kinds import ALIAS, LANE, BulkNoted, emit, note
from tests.integration.counters.drifting import spoil
from tests.waiting import PATIENCE_S
from tests.world import make_accounts
from timelines.recent.days import drop_old_days


def read():
    return read_status(datetime.now(UTC), patience_s=PATIENCE_S)


def screen():
    return "\n".join(format_status(read()))


def test_all_is_well(world):
    for alias in all_aliases():
        report_lag(alias)
    shown = screen()
    assert shown.count(": up, PostgreSQL") + shown.count(" up, PostgreSQL") == len(all_aliases())
    for line in ("changes\n  no others", "workers     NONE answered", "drift       not sampled"):
        assert line in shown
    assert "jobs        none running, none failed" in shown
    assert "periodic    every report_lag 5 s, " in shown
    for task in PERIODIC_TASKS:
        assert task.name in shown
    assert "DOWN" not in shown
    assert "s ago at the longest" in shown


def test_what_waits_is_shown_by_group(world):
    pause_kind(ALIAS, "tests.noted", "it breaks")
    note(3)
    drain(ALIAS, LANE)
    park(ALIAS, emit(BulkNoted()), "too much")
    shown = screen()
    assert f"  {ALIAS}    ordinary: 0 pending, 0 parked, 3 paused, oldest 0.0 s" in shown
    assert f"  {ALIAS}    bulk: 0 pending, 1 parked, 0 paused" in shown
    assert f"  {ALIAS}    tests.noted is paused: it breaks" in shown


def test_drift_that_samples_found(world):
    me, other = make_accounts(2)
    follow(me, other)
    spoil(me, CounterKind.FOLLOWING, +1)
    DRIFT_AUDIT.audit(shard_of(me), 0.0)
    assert f"drift       counts off: {shard_of(me)} 1" in screen()


def test_jobs_that_run_failed_or_died(world):
    JobRun.objects.create(
        job="audit edges", flags="", dry_run=False, host="web1", pid=1, state="failed", error="Oh"
    )
    JobRun.objects.create(job="recount_posts", flags="shard=shard1", dry_run=False, host="x", pid=1)
    shown = screen()
    assert "failed      audit edges  at 20" in shown
    assert ": Oh" in shown
    assert "died        recount_posts shard=shard1" in shown


@pytest.mark.parametrize("alias", ["default", "shard1"])
def test_database_down(world, monkeypatch, alias):
    monkeypatch.setitem(connections[alias].settings_dict, "HOST", "/nowhere")
    connections[alias].close()
    try:
        found, shown = read(), screen()
    finally:
        monkeypatch.undo()
        connections[alias].close()
    assert [name for name, part in found["databases"].items() if not part["is_up"]] == [alias]
    assert f"  {alias:<9} DOWN: connection" in shown
    assert (found["jobs"]["is_up"], "jobs        unknown" in shown) == (
        alias != "default",
        alias == "default",
    )


def test_redis_down(world, monkeypatch):
    nowhere = Redis(unix_socket_path="/nowhere")
    monkeypatch.setattr(module, "list_nodes", lambda: [RedisNode("redis", nowhere)])
    shown = screen()
    assert "redis       DOWN: Error 2" in shown
    assert shown.count("up, PostgreSQL") == len(all_aliases())


def test_what_hangs_is_not_waited_for(world, monkeypatch):
    comes_back = threading.Event()
    monkeypatch.setattr(module, "_read_workers", lambda: comes_back.wait(PATIENCE_S))  # it hangs
    begun = time.monotonic()
    found = read_status(datetime.now(UTC), patience_s=1.0)
    # Whoever waited would wait five times as long; a crowded machine does not need that.
    assert time.monotonic() - begun < PATIENCE_S / 5
    comes_back.set()
    assert found["workers"] == {"is_up": False, "why": "no answer in 1 s"}


@pytest.fixture
def all_up(world):
    """A worker and a compensator that reported a moment ago."""
    report_drainer()
    for alias in all_aliases():
        report_lag(alias)
    yield
    forget_drainer()


def test_command_prints_a_screen_or_json(all_up, monkeypatch):
    monkeypatch.setattr(show_status, "read_status", lambda now: read())
    out = StringIO()
    call_command("show_status", stdout=out)
    assert "databases\n  default" in out.getvalue()
    assert len(out.getvalue().splitlines()) <= 26
    out = StringIO()
    call_command("show_status", json=True, stdout=out)
    assert json.loads(out.getvalue())["versions"]["tideline"]


def harm_database(monkeypatch):
    monkeypatch.setitem(connections["shard1"].settings_dict, "HOST", "/nowhere")
    connections["shard1"].close()


def harm_schema(monkeypatch):
    MigrationRecorder(connections["shard1"]).record_unapplied("markers", "0001_initial")
    monkeypatch.setattr(readiness, "_ready", set())


def harm_redis(monkeypatch):
    nowhere = Redis(unix_socket_path="/nowhere")
    monkeypatch.setattr(module, "list_nodes", lambda: [RedisNode("redis", nowhere)])


def harm_worker(monkeypatch):
    forget_drainer()


def harm_compensator(monkeypatch):
    monkeypatch.setattr(module.LAG, "read", lambda aliases: {})


DOWN = {
    harm_database: ["shard1"],
    harm_schema: ["shard1"],
    harm_redis: ["redis"],
    harm_worker: ["workers"],
    harm_compensator: ["compensator"],
}


@pytest.mark.parametrize("harm", DOWN)
def test_exit_code_says_that_something_is_down(all_up, monkeypatch, harm):
    assert list_down(read()) == []
    harm(monkeypatch)
    try:
        assert list_down(read()) == DOWN[harm]
        with pytest.raises(SystemExit) as exit_:
            call_command("show_status", stdout=StringIO())
    finally:
        monkeypatch.undo()
        connections["shard1"].close()
        MigrationRecorder(connections["shard1"]).record_applied("markers", "0001_initial")
    assert exit_.value.code == 1


def test_from_which_day_on_rows_are_kept(world):
    today = datetime.now(UTC).date()
    drop_old_days(ALIAS, today)
    maintain_partitions(ALIAS, today - timedelta(days=5))
    try:
        line = next(line for line in screen().splitlines() if line.startswith("kept"))
        assert f"changes_delivered from {today - timedelta(days=5)}" in line
        assert "timelines_recentpost from " in line
    finally:
        maintain_partitions(ALIAS, today + timedelta(days=settings.CHANGE_REPLAY_DAYS))
        maintain_partitions(ALIAS, today)


def test_what_is_kept_is_unknown_without_a_database():
    assert _kept({"shard0": {"is_up": False, "why": "gone"}}) == "unknown"
