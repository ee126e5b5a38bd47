"""Paused kinds: held back by every drain, keep nobody waiting, and come back whole."""

import json
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction

from infra.changes.batches import take_batch
from infra.changes.compensate import compensate, drain
from infra.changes.errors import ChangeReasonMissing
from infra.changes.lag import list_lane_lags
from infra.changes.lanes import PAUSED_OFFSET
from infra.changes.pausing import (
    end_pause,
    finish_resuming,
    list_pauses,
    move_to_paused_lane,
    pause_kind,
)
from infra.changes.verbs.delivering import ShowChangeLag
from infra.changes.verbs.pausing import PauseChanges, ResumeChanges
from infra.sharding.sql import execute, fetch_all
from tests.budgets import count_calls
from tests.dying import dying_at
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    BulkNoted,
    Noted,
    NotedInline,
    column,
    delivered,
    emit,
    note,
    pending,
)
from tests.integration.jobs.outcomes import Outcome
from tests.plans import nodes_of, rows_handled, settle
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S

KIND = "tests.noted"
LANES = "SELECT DISTINCT lane FROM changes_change ORDER BY 1"


def test_paused_kind_waits_and_others_of_the_same_owner_and_lane_go_on(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    held = note(2)
    [other] = emit(NotedInline())
    held += note(1)
    journal.clear()
    report = drain(ALIAS, LANE)
    assert (journal.versions, delivered(), pending()) == ([other], [other], held)
    assert (report.delivered, report.more) == (1, False)


@pytest.mark.parametrize("batches", [1, 20])
def test_what_is_held_is_not_come_upon_again(journal, monkeypatch, batches):
    """However many wait, a batch finds the rows behind them."""
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    pause_kind(ALIAS, KIND, "it breaks")
    note(5)
    drain(ALIAS, LANE)
    assert column(ALIAS, LANES) == [PAUSED_OFFSET + LANE]
    [other] = emit(NotedInline())
    assert [row.id for row in take_batch(ALIAS, [LANE])] == [other]


def test_neither_compensator_nor_wake_up_drains_it_and_resuming_delivers_in_order(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    held = note(3)
    assert [report.delivered for report in compensate(ALIAS)] == [0]
    assert [*compensate(ALIAS)] == []
    assert end_pause(ALIAS, KIND)
    finish_resuming(ALIAS, KIND)
    assert drain(ALIAS, LANE).delivered == 3
    assert (journal.heard, delivered(), list_pauses(ALIAS)) == ([held], held, [])


def test_other_databases_go_on(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    elsewhere = note(alias="shard1")
    drain("shard1", LANE)
    assert delivered("shard1") == elsewhere


def test_bulk_lanes_are_held_too(journal):
    pause_kind(ALIAS, BulkNoted.kind, "too much")
    rows = emit(BulkNoted(), BulkNoted())
    drain(ALIAS, BULK_LANE)
    assert (pending(), delivered()) == (rows, [])


def test_lag_tells_them_from_what_is_behind(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    note(2)
    drain(ALIAS, LANE)
    [lag] = [lag for lag in list_lane_lags(ALIAS) if lag.lane == LANE]
    assert (lag.pending, lag.paused, lag.oldest_s) == (0, 2, 0)
    out = StringIO()
    call_command(ShowChangeLag(), shard=ALIAS, json=True, stdout=out)
    last = json.loads(out.getvalue().splitlines()[-1])
    assert (last["kind"], last["reason"], last["is_ending"]) == (KIND, "it breaks", False)
    out = StringIO()
    call_command(ShowChangeLag(), shard=ALIAS, stdout=out)
    assert f"{ALIAS}: {KIND} paused, since " in out.getvalue()


def test_pause_needs_a_reason(journal):
    with pytest.raises(ChangeReasonMissing):
        pause_kind(ALIAS, KIND, " ")


def test_pausing_again_while_it_ends_holds_again(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    end_pause(ALIAS, KIND)
    assert pause_kind(ALIAS, KIND, "it breaks still")
    [row] = note()
    drain(ALIAS, LANE)
    assert pending() == [row]


def test_row_taken_before_the_pause_ended_is_not_held_after_it(journal):
    """Or it would wait for ever: whoever lets go has been there."""
    pause_kind(ALIAS, KIND, "it breaks")
    note()
    taken = take_batch(ALIAS, [LANE])
    end_pause(ALIAS, KIND)
    finish_resuming(ALIAS, KIND)
    assert move_to_paused_lane(ALIAS, taken) == []
    assert drain(ALIAS, LANE).delivered == 1


def test_end_of_a_pause_waits_for_a_hold_that_has_begun(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    note()
    taken = take_batch(ALIAS, [LANE])
    is_held, may_commit = threading.Barrier(2, timeout=PATIENCE_S), threading.Event()

    def hold_slowly():
        with transaction.atomic(using=ALIAS):
            move_to_paused_lane(ALIAS, taken)
            is_held.wait()
            may_commit.wait(PATIENCE_S)

    def resume():
        is_held.wait()
        threading.Timer(0.2, may_commit.set).start()
        end_pause(ALIAS, KIND)
        assert may_commit.is_set()
        finish_resuming(ALIAS, KIND)

    assert failures(run_together([hold_slowly, resume])) == []
    assert drain(ALIAS, LANE).delivered == 1


@pytest.mark.parametrize("heal", ["again", "compensator"])
def test_resume_that_died_is_finished(journal, heal):
    Outcome(PauseChanges(), "--kind", KIND, "--reason", "it breaks", "--shard", ALIAS)
    rows = note(5)
    drain(ALIAS, LANE)
    with dying_at("pausing.rows_resumed"):
        call_command(ResumeChanges(), kind=KIND, batch_size=2)
    assert [paused.is_ending for paused in list_pauses(ALIAS)] == [True]
    if heal == "again":
        assert Outcome(ResumeChanges(), "--kind", KIND).code == 0
        drain(ALIAS, LANE)
    else:
        assert sum(report.delivered for report in compensate(ALIAS)) == 5
    assert (delivered(), list_pauses(ALIAS)) == (rows, [])


def test_commands_say_what_they_do_and_do_it_once(journal):
    flags = ("--kind", KIND, "--reason", "it breaks", "--shard", ALIAS)
    assert (
        Outcome(PauseChanges(), *flags, "--dry-run").out.splitlines()[0]
        == f"{ALIAS}: {KIND} paused"
    )
    assert list_pauses(ALIAS) == []
    assert Outcome(PauseChanges(), *flags).code == 0
    assert "1 databases done, 0 changed" in Outcome(PauseChanges(), *flags).out
    note(3)
    drain(ALIAS, LANE)
    assert "3 would change" in Outcome(ResumeChanges(), "--kind", KIND, "--dry-run").out
    assert column(ALIAS, LANES) == [PAUSED_OFFSET + LANE]
    assert f"{ALIAS}: {KIND} resumed" in Outcome(ResumeChanges(), "--kind", KIND).out
    assert "0 changes done" in Outcome(ResumeChanges(), "--kind", KIND).out


def test_kind_that_is_none_is_refused(journal):
    with pytest.raises(CommandError, match=r"'posts.made' is no kind of change.*tests.noted"):
        call_command(PauseChanges(), kind="posts.made", reason="it breaks")


def test_pause_survives_new_connections(journal):
    pause_kind(ALIAS, KIND, "it breaks")
    note()
    connections[ALIAS].close()
    assert drain(ALIAS, LANE).delivered == 0


def test_looking_for_pauses_costs_no_statement(journal, django_assert_num_queries):
    note(3)
    with django_assert_num_queries(1, using=ALIAS):
        take_batch(ALIAS, [LANE])


def test_batch_with_a_long_held_queue_is_found_by_its_index(journal):
    execute(
        ALIAS,
        "INSERT INTO changes_change (lane, kind, owner_id, payload)"
        " SELECT 257, 'tests.noted', n, '{}' FROM generate_series(1, 20000) AS n",
    )
    note()
    settle(ALIAS, "changes_change")
    with count_calls() as calls:
        assert len(take_batch(ALIAS, [LANE])) == 1
    [statement] = calls.statements
    assert max(map(rows_handled, nodes_of(statement))) <= 1
    held = fetch_all(ALIAS, "SELECT count(*) FROM changes_change WHERE lane > 256")
    assert held == [(20_000,)]
    assert Noted.kind == KIND
