"""What --dry-run of draining says is what draining then does, and saying it leaves no trace."""

import json
import re

import pytest
from django.core.management import CommandError, call_command

from infra.changes.compensate import list_due_changes
from infra.changes.management.commands.compensate_changes import Command as Compensate
from infra.changes.management.commands.drain_changes import Command as Drain
from infra.changes.models import DrainLease
from infra.changes.parking import park
from infra.changes.pausing import end_pause, pause_kind
from infra.sharding.sql import execute
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    OTHER_LANE,
    OTHER_OWNER,
    BulkNoted,
    Noted,
    emit,
    note,
    pending,
)
from tests.integration.jobs.outcomes import Outcome

COMMANDS = {"drain_changes": Drain, "compensate_changes": Compensate}
NOTED, BULK = Noted.kind, BulkNoted.kind


def dry_run(command, *words):
    return Outcome(COMMANDS[command](), *words, "--dry-run")


def found(lane=None):
    return [(one.lane, one.kind, one.rows, one.fate) for one in list_due_changes(ALIAS, lane)]


def test_by_lane_and_kind(journal):
    note(3)
    note(2, owner_id=OTHER_OWNER)
    emit(BulkNoted())
    assert found() == [
        (OTHER_LANE, NOTED, 2, "deliver"),
        (LANE, NOTED, 3, "deliver"),
        (BULK_LANE, BULK, 1, "deliver"),
    ]
    assert found(LANE) == [(LANE, NOTED, 3, "deliver")]


def test_says_how_long_the_oldest_waits(journal):
    first, _ = note(2)
    ago = "UPDATE changes_change SET created_at = now() - interval '900 s' WHERE id = %s"
    execute(ALIAS, ago, (first,))
    [one] = list_due_changes(ALIAS)
    assert 900 <= one.oldest_s < 1_200
    told = rf"lane {LANE}: 2 {NOTED} would be delivered, the oldest waits for (9|1[01])\d\d\.\d s"
    assert re.fullmatch(told, str(one))


def test_what_the_drain_would_not_take_is_left_out(journal):
    late, _, parked = note(3)
    wait = "UPDATE changes_change SET next_attempt_at = now() + interval '1 h' WHERE id = %s"
    execute(ALIAS, wait, (late,))
    park(ALIAS, [parked], "a test")
    assert found() == [(LANE, NOTED, 1, "deliver")]


def test_rows_of_paused_kinds_would_move_and_return(journal):
    note(2)
    pause_kind(ALIAS, NOTED, "a test")
    assert found() == [(LANE, NOTED, 2, "pause")]
    call_command("drain_changes", verbosity=0)
    assert found() == []
    end_pause(ALIAS, NOTED)
    assert found() == [(LANE, NOTED, 2, "resume")]
    note(1)
    assert found() == [(LANE, NOTED, 1, "deliver"), (LANE, NOTED, 2, "resume")]


@pytest.mark.parametrize("command", COMMANDS)
def test_takes_no_lease_and_delivers_nothing(journal, command):
    versions = note(4)
    before = list(DrainLease.objects.on(ALIAS).values())
    outcome = dry_run(command, "--shard", ALIAS)
    assert f"{ALIAS} lane {LANE}: 4 {NOTED} would be delivered" in outcome.out
    assert "4 changes looked at, 4 would change, 0 failed" in outcome.out
    assert (pending(), journal.versions) == (versions, [])
    assert list(DrainLease.objects.on(ALIAS).values()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_json_counts_it(journal, command):
    note(4)
    counts = json.loads(dry_run(command, "--json").out)
    assert (counts["dry_run"], counts["done"], counts["changed"]) == (True, 4, 4)


def test_a_schedule_has_no_dry_run(journal):
    with pytest.raises(CommandError, match="looks once"):
        call_command("compensate_changes", "--every", "1", "--dry-run")
