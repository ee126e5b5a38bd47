"""Compensation: what a failure left is found by its rows, without Redis and without a drainer."""

import json
import os
import signal
import threading
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from infra.changes.compensate import compensate
from infra.changes.lanes import all_lanes, lane_of
from infra.changes.periodic import PARTITIONS
from infra.jobs.models import JobRun
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from tests.integration.changes.kinds import (
    ALIAS,
    LANE,
    OTHER_OWNER,
    OWNER,
    BulkNoted,
    delivered,
    emit,
    note,
    pending,
)


class Outcome:
    def __init__(self, command, *words):
        out, self.stderr = StringIO(), StringIO()
        self.code = 0
        try:
            call_command(command, *words, stdout=out, stderr=self.stderr)
        except SystemExit as error:
            self.code = error.code
        self.out = out.getvalue()


def test_all_lanes_are_drained_without_redis(journal, no_redis):
    versions = [*note(3), *note(2, owner_id=OTHER_OWNER), *emit(BulkNoted())]
    reports = list(compensate(ALIAS))
    assert sum(report.delivered for report in reports) == 6
    assert delivered() == versions


def test_quiet_database_costs_one_query(journal):
    assert list(compensate(ALIAS)) == []


def test_lane_that_no_setting_names_any_more_is_drained(journal, settings):
    settings.CHANGE_LANES = 8
    versions = [note(owner_id=owner)[0] for owner in range(8)] + emit(BulkNoted())
    settings.CHANGE_LANES = 2
    list(compensate(ALIAS))
    assert delivered() == versions


def test_more_than_a_drain_may_do_at_once_is_drained(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    monkeypatch.setattr("infra.changes.compensate.MAX_BATCHES", 1)
    versions = note(9)
    list(compensate(ALIAS))
    assert delivered() == versions


def test_rows_that_fail_over_and_over_end_it(journal, monkeypatch):
    """As when a batch takes longer to fail than its rows have to wait."""
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    journal.fail_for(*note(5))
    due_again = "UPDATE changes_change SET next_attempt_at = '-infinity'"
    for turn, _ in enumerate(compensate(ALIAS)):
        assert turn < 3
        execute(ALIAS, due_again)


@pytest.mark.parametrize("command", ["changes drain", "compensate_changes"])
def test_commands_drain_everything_once(journal, no_redis, command):
    versions = {alias: note(2, alias=alias) for alias in all_aliases()}
    outcome = Outcome(*command.split())
    assert (outcome.code, outcome.out) == (0, "10 changes done, 0 failed\n")
    assert {alias: delivered(alias) for alias in all_aliases()} == versions


@pytest.mark.parametrize("command", ["changes drain", "compensate_changes"])
def test_commands_tell_of_failures_by_code_and_json(journal, command):
    bad, good = note(2)
    journal.fail_for(bad)
    outcome = Outcome(*command.split(), "--json", "--shard", ALIAS)
    assert outcome.code == 1
    counts = {"done": 1, "changed": None, "failed": 1, "left_out": {}}
    assert json.loads(outcome.out) == {"job": command, "dry_run": False, **counts, "exit": 1}
    assert (pending(), delivered()) == ([bad], [good])


def test_drain_by_hand_of_one_lane(journal):
    mine, other = note(), note(owner_id=OTHER_OWNER)
    assert Outcome("changes", "drain", "--lane", str(LANE)).code == 0
    assert (delivered(), pending()) == (mine, other)


def test_drain_by_hand_of_a_lane_no_setting_names(journal, settings):
    settings.CHANGE_LANES = 8
    [old] = note(owner_id=OWNER)
    lane = lane_of(OWNER)
    settings.CHANGE_LANES = 2
    assert lane not in all_lanes()
    assert Outcome("changes", "drain", "--lane", str(lane)).code == 0
    assert delivered() == [old]


def test_first_ctrl_c_finishes_the_batch_in_hand(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    versions = note(6)
    journal.act = lambda _: os.kill(os.getpid(), signal.SIGINT)
    outcome = Outcome("changes", "drain")
    assert (outcome.code, outcome.out) == (2, "2 changes done, 0 failed\n")
    assert (delivered(), pending()) == (versions[:2], versions[2:])


def test_second_ctrl_c_leaves_the_batch_for_the_next(journal):
    versions = note(3)

    def insist(_):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    journal.act = insist
    outcome = Outcome("changes", "drain")
    assert (outcome.code, outcome.out) == (2, "0 changes done, 0 failed\n")
    assert pending() == versions
    journal.clear()
    assert Outcome("changes", "drain").code == 0
    assert delivered() == versions


def ask_to_stop():
    os.kill(os.getpid(), signal.SIGTERM)


def test_schedule_finds_what_came_since_its_first_round(journal):
    later = []

    def come_later():
        later.extend(note())
        connections.close_all()

    def stop_when_heard(deliveries):
        assert [delivery.version for delivery in deliveries] == later
        ask_to_stop()

    journal.act = stop_when_heard
    timer = threading.Timer(0.3, come_later)
    timer.start()
    assert Outcome("compensate_changes", "--every", "0.2", "--shard", ALIAS).code == 2
    timer.join()
    assert delivered() == later
    assert not JobRun.objects.exists(), "a run without an end"


@pytest.mark.parametrize("command", ["changes drain", "compensate_changes"])
def test_one_round_by_hand_is_a_run(journal, command):
    note(2)
    Outcome(*command.split(), "--shard", ALIAS)
    run = JobRun.objects.get()
    assert (run.job, run.flags, run.state, run.done) == (command, f"shard={ALIAS}", "done", 2)


def test_schedule_stops_at_once_in_a_long_pause(journal):
    def stop_in_the_pause(deliveries):
        threading.Timer(0.3, ask_to_stop).start()

    note()
    journal.act = stop_in_the_pause
    began = time.monotonic()
    assert Outcome("compensate_changes", "--every", "3600", "--shard", ALIAS).code == 2
    assert time.monotonic() - began < 3600 / 10, "a crowded machine; the pause is an hour"


def test_schedule_gets_over_a_lost_connection(journal):
    """A connection that broke is dropped before the next round, not kept for good."""
    rounds = []

    def end_own_session(_):
        rounds.append(len(rounds))
        if rounds == [0]:
            execute(ALIAS, "SELECT pg_terminate_backend(pg_backend_pid())")
        ask_to_stop()

    versions = note()
    journal.act = end_own_session
    outcome = Outcome("compensate_changes", "--every", "0.2", "--shard", ALIAS)
    assert outcome.out == "1 changes done, 1 failed\n"
    assert delivered() == versions


def test_database_that_is_down_keeps_no_other_waiting(journal, monkeypatch):
    versions = note(alias="shard2")
    monkeypatch.setitem(connections["shard1"].settings_dict, "HOST", "/nowhere")
    connections["shard1"].close()
    outcome = Outcome("compensate_changes")
    monkeypatch.undo()
    said = "1 changes done, 0 failed, not all: left out shard1\n"
    assert (outcome.code, outcome.out) == (1, said)
    assert delivered("shard2") == versions


def test_partitions_are_kept(journal):
    for name in PARTITIONS.names(ALIAS):
        execute(ALIAS, f"DROP TABLE {name}")
    assert Outcome("compensate_changes").code == 0
    assert len(PARTITIONS.names(ALIAS)) >= 2


@pytest.mark.parametrize("pause", ["0", "-1", "nan", "inf", "soon"])
def test_pause_that_is_none_is_refused(pause):
    with pytest.raises(CommandError, match="not a number of seconds"):
        call_command("compensate_changes", f"--every={pause}")
