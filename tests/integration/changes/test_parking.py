"""Parked changes: set aside by hand, listed, tried again, discarded with a reason.

What --dry-run of draining says is what draining then does, and saying it leaves no trace.
"""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from infra.changes.compensate import drain, list_due_changes
from infra.changes.errors import ChangeReasonMissing
from infra.changes.management.commands.compensate_changes import Command as Compensate
from infra.changes.models import DiscardedChange, DrainLease
from infra.changes.parking import ChangeSelection, discard_parked, list_parked, park, retry_parked
from infra.changes.pausing import end_pause, pause_kind
from infra.changes.verbs.delivering import DrainChanges
from infra.changes.verbs.parking import (
    DiscardChanges,
    ParkChanges,
    ShowParkedChanges,
    UnparkChanges,
)
from infra.sharding.sql import execute, fetch_all
from tests.dying import armed
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    OTHER_LANE,
    OTHER_OWNER,
    BulkNoted,
    Noted,
    NotedInline,
    delivered,
    emit,
    note,
    parked,
    pending,
)
from tests.integration.jobs.outcomes import Outcome

SHARD = ("--shard", ALIAS)


@pytest.fixture
def failed(journal, settings):
    """A change that was parked by the drain, with its error."""
    settings.CHANGE_MAX_ATTEMPTS = 1
    [bad] = note()
    journal.fail_for(bad)
    drain(ALIAS, LANE)
    journal.clear()
    return bad


def test_list_is_a_page_by_id(journal):
    versions = note(5)
    park(ALIAS, versions, "too many")
    first = list_parked(ALIAS, limit=3)
    assert [one.id for one in first] == versions[:3]
    assert [one.id for one in list_parked(ALIAS, first[-1].id)] == versions[3:]


def test_list_has_the_error_and_chooses(journal, failed):
    [mine] = list_parked(ALIAS)
    assert (mine.id, mine.kind, mine.attempts) == (failed, "tests.noted", 1)
    assert mine.error == "ValueError: no such number"
    assert list_parked(ALIAS, selection=ChangeSelection(owner_id=OTHER_OWNER)) == []
    assert list_parked(ALIAS, selection=ChangeSelection(kind="tests.noted")) == [mine]


def test_retried_it_is_in_the_queue_as_if_new(journal, failed):
    assert retry_parked(ALIAS, [failed, failed + 1]) == 1
    columns = "SELECT attempts, next_attempt_at <= clock_timestamp() FROM changes_change"
    assert fetch_all(ALIAS, columns) == [(0, True)]
    assert drain(ALIAS, LANE).delivered == 1
    assert retry_parked(ALIAS, [failed]) == 0


def test_retry_wakes_the_lane(journal, failed, monkeypatch):
    rung = []
    monkeypatch.setattr("infra.changes.parking.wake", lambda *call: rung.append(call))
    retry_parked(ALIAS, [failed])
    assert rung == [(ALIAS, LANE)]


def test_discarded_it_is_kept_with_the_reason(journal, failed):
    assert discard_parked(ALIAS, [failed], "its account is gone", "frida") == 1
    assert (parked(), pending(), delivered()) == ([], [], [])
    kept = DiscardedChange.objects.on(ALIAS).get(id=failed)
    assert (kept.kind, kept.payload, kept.error) == (
        "tests.noted",
        {"number": 0},
        "ValueError: no such number",
    )
    assert (kept.reason, kept.discarded_by) == ("its account is gone", "frida")
    assert discard_parked(ALIAS, [failed], "again", "frida") == 0


def test_only_what_is_parked_is_discarded(journal):
    versions = note(2)
    assert discard_parked(ALIAS, versions, "whatever", "frida") == 0
    assert pending() == versions


@pytest.mark.parametrize("reason", ["", " "])
def test_reason_is_required(journal, failed, reason):
    with pytest.raises(ChangeReasonMissing):
        discard_parked(ALIAS, [failed], reason, "frida")
    with pytest.raises(ChangeReasonMissing):
        park(ALIAS, [failed], reason)
    assert parked() == [failed]


def test_row_parked_while_a_drain_has_it_stays_parked_when_it_fails(journal):
    [row] = note()
    journal.fail_for(row)
    with armed("drain.before_delivery", lambda: park(ALIAS, [row], "wait")):
        drain(ALIAS, LANE)
    assert parked() == [row]
    assert list_parked(ALIAS)[0].error == "ParkedByHand: wait"


def test_row_parked_while_a_drain_has_it_is_gone_when_it_was_delivered(journal):
    [row] = note()
    with armed("drain.before_delivery", lambda: park(ALIAS, [row], "wait")):
        drain(ALIAS, LANE)
    assert (parked(), delivered()) == ([], [row])


def test_parking_keeps_the_error_there_was(journal):
    [row] = note()
    journal.fail_for(row)
    drain(ALIAS, LANE)
    park(ALIAS, [row], "wait")
    assert list_parked(ALIAS)[0].error == "ParkedByHand: wait\nValueError: no such number"


def test_commands_from_end_to_end(journal):
    mine, theirs = note(2), note(1, owner_id=OTHER_OWNER)
    chosen = ("--owner", "2", *SHARD)
    dry = Outcome(ParkChanges(), *chosen, "--reason", "look first", "--dry-run")
    assert (dry.code, parked()) == (0, [])
    assert f"{ALIAS} #{mine[0]} tests.noted of 2: " in dry.out
    assert Outcome(ParkChanges(), *chosen, "--reason", "look first").code == 0
    assert (parked(), pending()) == (mine, theirs)
    assert "0 changes done" in Outcome(ParkChanges(), *chosen, "--reason", "look first").out
    discard = Outcome(DiscardChanges(), *SHARD, "--id", str(mine[0]), "--reason", "gone")
    assert "1 changes done, 1 changed" in discard.out
    assert "@" in DiscardedChange.objects.on(ALIAS).get().discarded_by
    assert "1 changes done, 1 changed" in Outcome(UnparkChanges(), "--all").out
    assert pending() == [mine[1], *theirs]


def test_choice_by_kind_and_batches(journal):
    rows = note(5)
    emit(NotedInline())
    flags = ("--kind", Noted.kind, "--reason", "x", "--batch-size", "2", "--limit", "3")
    assert "3 changes done" in Outcome(ParkChanges(), *flags).out
    assert parked() == rows[:3]
    assert "2 changes done" in Outcome(ParkChanges(), *flags, "--resume").out


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ((), "select changes by"),
        (("--all", "--kind", "x"), "select changes by"),
        (("--id", "4"), "--id needs --shard"),
    ],
)
@pytest.mark.parametrize("command", [UnparkChanges, DiscardChanges])
def test_choice_is_required(journal, command, flags, complaint):
    more = ("--reason", "x") if command is DiscardChanges else ()
    with pytest.raises(CommandError, match=complaint):
        Outcome(command(), *flags, *more)


def test_command_lists_what_is_parked(journal, failed):
    note(2, alias="shard1")
    park("shard1", pending("shard1"), "wait")
    out = StringIO()
    call_command("changes", "parked", stdout=out)
    first, *others = out.getvalue().splitlines()
    assert first == (f"{ALIAS} #{failed} tests.noted of 2, 1 attempts: ValueError: no such number")
    assert len(others) == 2
    out = StringIO()
    call_command(ShowParkedChanges(), stdout=out, json=True, shard="shard1", limit=1)
    [row] = map(json.loads, out.getvalue().splitlines())
    assert (row["alias"], row["error"]) == ("shard1", "ParkedByHand: wait")


COMMANDS = {"changes drain": DrainChanges, "compensate_changes": Compensate}
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
    call_command("changes", "drain", verbosity=0)
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
