"""Follow, unfollow, remove a follower: rows, counts and changes of one caller at a time.

Many at once: the cap holds, no request waits for ever, both sides and counts agree.
"""

import itertools
import random
from functools import partial

import pytest
from redis.exceptions import OutOfMemoryError

from counters.kinds import CounterKind
from infra.api.pages import Window
from infra.caching.single import SingleClient
from infra.changes.compensate import drain as drain_lane
from infra.changes.lanes import all_lanes
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from relations.actions.follow import follow, remove_follower, unfollow
from relations.changes import EdgeChanged
from relations.errors import FollowCapReached
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.types import Attribute, Edge
from tests.races import failures, run_together
from tests.truth import (
    assert_drained_truth,
    backward_edges,
    counts,
    everything_written,
    forward_edges,
    live_pairs,
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


TOGGLES = 15


def assert_lists_agree(account_ids):
    """The pages equal the rows, cached or not."""
    pairs = live_pairs()
    for account_id in account_ids:
        following, followers = (
            {i.account_id for i in list_page(edge_list, account_id, Window(80)).items}
            for edge_list in (FOLLOWING_LIST, FOLLOWERS_LIST)
        )
        assert following == {b for a, b in pairs if a == account_id}
        assert followers == {a for a, b in pairs if b == account_id}


def test_64_follows_at_one_below_the_cap_let_one_through(world, settings, drain):
    settings.FOLLOW_CAP = 3
    ann, *others = make_accounts(67)
    for other in others[:2]:
        follow(ann, other)
    answers = run_together(partial(follow, ann, other) for other in others[2:])
    assert answers.count(True) == 1
    assert all(isinstance(error, FollowCapReached) for error in failures(answers))
    assert len(live_pairs()) == 3
    drain()
    assert_drained_truth()


def test_one_follow_by_16_at_once_happens_once(world, drain):
    ann, bob = make_accounts(2)
    answers = run_together([partial(follow, ann, bob)] * 16)
    assert sorted(answers) == [False] * 15 + [True]
    drain()
    assert_drained_truth()
    assert_lists_agree([ann, bob])


def test_pairs_that_follow_each_other_at_the_same_moment_both_do(world, drain):
    people = make_accounts(8)
    pairs = [(a, b) for a, b in itertools.permutations(people, 2) if (a + b) % 2]
    answers = run_together(partial(follow, a, b) for a, b in pairs)
    assert answers == [True] * len(pairs)
    assert failures(run_together([drain_everything] * 4)) == []
    drain()
    assert live_pairs() == set(pairs)
    assert_drained_truth()
    assert_lists_agree(people)


def test_toggling_storm_ends_with_both_sides_counts_and_lists_agreeing(world, drain):
    people = make_accounts(5)
    storms = [partial(toggle, random.Random(seed), people) for seed in range(6)]
    answers = run_together([*storms, *[partial(drain_often, 6)] * 3])
    assert failures(answers) == []
    drain()
    assert_drained_truth()
    assert_lists_agree(people)


def test_removing_and_following_at_once_end_the_same_on_both_sides(world, drain):
    bob, *fans = make_accounts(9)
    for fan in fans:
        follow(fan, bob)
    removals = [partial(remove_follower, bob, fan) for fan in fans]
    again = [partial(toggle_pair, fan, bob) for fan in fans]
    assert failures(run_together([*removals, *again, drain_everything])) == []
    drain()
    assert_drained_truth()
    assert_lists_agree([bob, *fans])


def toggle(chance: random.Random, people) -> None:
    for _ in range(TOGGLES):
        a, b = chance.sample(people, 2)
        chance.choice([follow, follow, unfollow, remove_follower])(a, b)
        list_page(FOLLOWERS_LIST, b, Window(3))


def toggle_pair(a: int, b: int) -> None:
    unfollow(a, b)
    follow(a, b)


def drain_everything() -> None:
    for alias, lane in itertools.product(all_aliases(), all_lanes()):
        drain_lane(alias, lane)


def drain_often(times: int) -> None:
    for _ in range(times):
        drain_everything()
