"""Follow-ups: what a consumer asks for is written once, with the filing, whatever breaks off."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from infra.changes.drain import drain
from infra.changes.errors import WholeBatchFails
from infra.changes.registry import FollowUp
from infra.sharding.sql import fetch_all
from tests.dying import dying_at
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    LANE,
    OWNER,
    Asked,
    BulkNoted,
    Noted,
    delivered,
    emit,
    note,
    pending,
)
from tests.world import drain_all

ASKED = "SELECT payload->>'number' FROM changes_change WHERE kind = 'tests.asked' ORDER BY id"
FAILPOINTS = [
    "drain.before_delivery",
    "deliver.after_consumer",
    "drain.before_filing",
    "drain.before_commit",
    "drain.after_filing",
]


def ask_for_each_note(deliveries):
    """One follow_up a note, and nothing of follow_ups themselves."""
    notes = [one.payload for one in deliveries if isinstance(one.payload, Noted)]
    return [FollowUp(OWNER, Asked(one.number)) for one in notes]


def asked():
    return [int(number) for (number,) in fetch_all(ALIAS, ASKED)]


@pytest.fixture
def asking(journal):
    journal.ask = ask_for_each_note
    return journal


@pytest.mark.parametrize("place", FAILPOINTS)
def test_crash_anywhere_leaves_each_sequel_once(asking, place):
    versions = note(3)
    with dying_at(place):
        drain(ALIAS, LANE)
    drain(ALIAS, LANE)
    assert delivered() == versions
    assert asked() == [0, 1, 2]


def test_sequels_are_delivered_like_any_change(asking):
    emit(Noted(7))
    assert drain_all() == 2
    assert asking.deliveries[-1].payload == Asked(7)
    assert pending() == []


def test_rows_that_fail_have_no_sequels(asking):
    """Those of the others are written once, though their batch was run again in halves."""
    versions = note(8)
    asking.fail_for(versions[5])
    drain(ALIAS, LANE)
    assert asked() == [0, 1, 2, 3, 4, 6, 7]


def test_lanes_of_follow_ups_are_woken(asking, monkeypatch):
    emit(Noted(), Noted())
    rung = []
    monkeypatch.setattr("infra.changes.append.wake", lambda *place: rung.append(place))
    drain(ALIAS, LANE)
    assert rung == [(ALIAS, BULK_LANE)]


def test_drained_lane_is_not_woken(journal, monkeypatch):
    emit(BulkNoted())
    rung = []
    monkeypatch.setattr("infra.changes.append.wake", lambda *place: rung.append(place))
    journal.ask = lambda deliveries: [
        FollowUp(OWNER, Asked(5)) for one in deliveries if one.payload == BulkNoted()
    ]
    assert drain(ALIAS, BULK_LANE).delivered == 2
    assert rung == []


def test_bulk_rows_are_taken_one_by_one(journal):
    """A crash repeats the one in hand."""
    versions = emit(*[BulkNoted()] * 3)
    drain(ALIAS, BULK_LANE, max_batches=2)
    assert journal.heard == [[versions[0]], [versions[1]]]


def test_rows_that_fail_alike_are_not_tried_one_by_one(journal):
    versions = note(64)
    tried = []

    def act(deliveries):
        tried.append(len(deliveries))
        raise WholeBatchFails("shard9 is away")

    journal.act = act
    assert drain(ALIAS, LANE).failed == 64
    assert tried == [64]
    assert pending() == versions


def test_sequels_of_a_batch_that_fails_alike_are_not_written(asking):
    note(4)

    def fail(deliveries):
        raise WholeBatchFails

    asking.act = fail
    drain(ALIAS, LANE)
    assert asked() == []


def test_replay_brings_sequels_about_again_and_leaves_the_old_ones_out(asking):
    note(3)
    drain_all()
    asking.clear()
    asking.ask = ask_for_each_note
    replay_everything()
    assert [type(one.payload) for one in asking.deliveries] == [Noted] * 3
    assert asked() == [0, 1, 2]


def replay_everything():
    call_command("replay_changes", since=datetime.now(UTC) - timedelta(hours=1), stdout=StringIO())
