"""Follow-ups: what a consumer asks for is written once, with the filing, whatever breaks off.

What happens to a post is filed in its order, also when a change of it is tried again.
"""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError

from infra.changes import deliver
from infra.changes.compensate import drain
from infra.changes.errors import WholeBatchFails
from infra.changes.feed import OLDEST, read_feed
from infra.changes.registry import FollowUp
from infra.changes.verbs.delivering import ReplayChanges
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.changes import PostCreated
from posts.queries.rows import find_post_row
from posts.types import Draft
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
from tests.waiting import until
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
    since = datetime.now(UTC) - timedelta(hours=1)
    call_command(ReplayChanges(), since=since, stdout=StringIO())


DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"
LEFT = "SELECT kind, error <> '', attempts FROM changes_change ORDER BY id"


@pytest.fixture
def fails(monkeypatch):
    """Changes of the kind and the post in this set cannot be delivered: (kind, moment)."""
    failing = set()
    call = deliver._call_consumers

    def fail(alias, deliveries):
        for one in deliveries:
            if (one.payload.kind, getattr(one.payload, "moment", None)) in failing:
                raise OperationalError("down")
        return call(alias, deliveries)

    monkeypatch.setattr(deliver, "_call_consumers", fail)
    return failing


def filed(owner_id, count=0):
    """So many, once they are there: the feed waits for transactions of other databases, too."""

    def read():
        page = read_feed(shard_of(owner_id), OLDEST, 100)
        return [change.kind for change in page.changes if change.owner_id == owner_id]

    until(lambda: len(read()) >= count)
    return read()


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_a_deletion_waits_for_the_creation_of_its_post(ann, fails, in_one_batch):
    post, other = create_post(ann, Draft("one")), create_post(ann, Draft("other"))
    fails.add((PostCreated.kind, post.moment))
    if not in_one_batch:
        drain_all()
    edit_post(find_post_row(post), Draft("new"))
    delete_post(post)
    delete_post(other)
    drain_all()
    assert filed(ann, 2) == ["posts.created", "posts.deleted"], "of the other post"
    execute(shard_of(ann), DUE)
    drain_all()
    assert [row[0] for row in fetch_all(shard_of(ann), LEFT)] == [
        "posts.created", "posts.edited", "posts.deleted",
    ]  # fmt: skip
    fails.clear()
    execute(shard_of(ann), DUE)
    drain_all()
    assert filed(ann, 5)[2:] == ["posts.created", "posts.edited", "posts.deleted"]


def test_a_parked_creation_holds_nothing_back(ann, fails):
    post = create_post(ann, Draft("one"))
    fails.add((PostCreated.kind, post.moment))
    drain_all()
    delete_post(post)
    drain_all()
    assert filed(ann) == []
    execute(shard_of(ann), "UPDATE changes_change SET state = 1 WHERE kind = 'posts.created'")
    execute(shard_of(ann), DUE)
    drain_all()
    assert filed(ann, 1) == ["posts.deleted"]
