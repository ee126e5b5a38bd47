"""Follow, unfollow, remove a follower: rows, counts and changes of one caller at a time."""

import pytest
from redis.exceptions import OutOfMemoryError

from counters.kinds import CounterKind
from infra.api.pages import Window
from infra.caching.single import SingleClient
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from relations.actions.follow import follow, remove_follower, unfollow
from relations.changes import EdgeChanged
from relations.queries.edge_lists import FOLLOWERS_LIST, list_page
from relations.types import Attribute, Edge
from tests.truth import (
    assert_drained_truth,
    backward_edges,
    counts,
    everything_written,
    forward_edges,
)
from tests.world import make_accounts


@pytest.fixture
def pair(world):
    return make_accounts(2)


def changes_of(account_id: int) -> list[dict[str, int]]:
    found = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("pk")
    return [change.payload for change in found if change.kind == EdgeChanged.kind]


def followers_of(account_id: int) -> list[int]:
    return [i.account_id for i in list_page(FOLLOWERS_LIST, account_id, Window(80)).items]


def test_follow_writes_edge_count_and_change_then_the_drain_the_other_side(pair, drain):
    ann, bob = pair
    assert follow(ann, bob, clock_ms=lambda: 1_000)
    assert forward_edges() == {(ann, bob): Edge(Attribute.FOLLOW, 1, 1_000)}
    assert counts() == {(ann, CounterKind.FOLLOWING): 1}
    assert changes_of(ann) == [{"followee_id": bob, "before": 0, "after": 1}]
    assert backward_edges() == {}
    drain()
    assert counts() == {(ann, CounterKind.FOLLOWING): 1, (bob, CounterKind.FOLLOWERS): 1}
    assert_drained_truth()


def test_following_twice_is_once(pair, drain):
    ann, bob = pair
    follow(ann, bob)
    written = everything_written()
    assert follow(ann, bob) is False
    assert everything_written() == written


def test_unfollow_ends_the_edge_and_keeps_its_age(pair, drain):
    ann, bob = pair
    follow(ann, bob, clock_ms=lambda: 1_000)
    drain()
    assert unfollow(ann, bob)
    assert forward_edges() == {(ann, bob): Edge(Attribute.NONE, 2, 1_000)}
    assert changes_of(ann) == [{"followee_id": bob, "before": 1, "after": 2}]
    drain()
    assert counts() == {}
    assert_drained_truth()


def test_unfollowing_without_a_follow_writes_nothing(pair):
    ann, bob = pair
    assert unfollow(ann, bob) is False
    follow(ann, bob)
    unfollow(ann, bob)
    written = everything_written()
    assert unfollow(ann, bob) is False
    assert everything_written() == written


def test_following_again_is_newer_than_the_end(pair, drain):
    ann, bob = pair
    for at_ms in (1_000, 1_001, 1_002):
        follow(ann, bob, clock_ms=lambda at_ms=at_ms: at_ms)
        unfollow(ann, bob)
    follow(ann, bob, clock_ms=lambda: 1_003)
    assert forward_edges() == {(ann, bob): Edge(Attribute.FOLLOW, 7, 1_003)}
    drain()
    assert_drained_truth()


def test_removed_follower_is_off_the_list_before_the_drain(pair, drain):
    ann, bob = pair
    follow(ann, bob)
    drain()
    assert followers_of(bob) == [ann]
    assert remove_follower(bob, ann)
    assert followers_of(bob) == []
    assert_drained_truth()
    written_edges = backward_edges(), counts()
    drain()
    assert (backward_edges(), counts()) == written_edges
    assert remove_follower(bob, ann) is False


def test_a_follower_who_left_before_is_off_the_list_when_removed(pair, drain):
    ann, bob = pair
    follow(ann, bob)
    drain()
    assert followers_of(bob) == [ann]
    unfollow(ann, bob)  # not drained
    assert remove_follower(bob, ann) is False
    assert followers_of(bob) == []


def test_removing_without_a_follow_writes_nothing(pair):
    ann, bob = pair
    written = everything_written()
    assert remove_follower(bob, ann) is False
    assert everything_written() == written


def test_removal_stands_when_redis_refuses_writes(pair, drain, monkeypatch):
    ann, bob = pair
    follow(ann, bob)
    drain()

    def refuse(self, commands):
        return [OutOfMemoryError("no room")] * len(commands)

    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", refuse)
        assert remove_follower(bob, ann)
    drain()
    assert followers_of(bob) == []
    assert_drained_truth()
