"""A block holds at the next read on both sides, whether the request or the drain mirrors it."""

import itertools

import pytest

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.caching.client import redis
from infra.changes.models import Change
from infra.changes.registry import Delivery
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from relations.actions import block as block_module
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.changes import EdgeChanged
from relations.consumers import mirror_backward_edges, refresh_following_lists
from relations.errors import CannotFollowBlocked
from relations.types import Attribute, FollowOptions
from tests.cached_lists import LISTS, assert_cached_lists_agree, cached_members, write_lists
from tests.contradictions import Sides, assert_no_contradiction, rows_seen_by, shown_to
from tests.integration.timelines.homes import first_page
from tests.truth import assert_drained_truth, forward_edges, live_pairs
from tests.waiting import until
from tests.world import make_accounts, publish

NOTHING = Sides(following=False, followed_by=False, blocking=False, blocked_by=False)
BLOCKING = NOTHING._replace(blocking=True)
BLOCKED = NOTHING._replace(blocked_by=True)
FOLLOWING_LIST, _, FOLLOWERS_LIST = LISTS


@pytest.fixture(params=["one shard", "two shards"])
def pair(world, request) -> tuple[int, int]:
    people = make_accounts(12)
    return next(
        (a, b)
        for a, b in itertools.permutations(people, 2)
        if (shard_of(a) == shard_of(b)) is (request.param == "one shard")
    )


@pytest.fixture
def not_mirrored(monkeypatch):
    """Only the drain mirrors blocks to the other shard."""
    monkeypatch.setattr(block_module, "mirror_now", lambda *pair: False)


def make_mutual(a: int, b: int, drain) -> None:
    """They follow each other, have posted, and everything is cached."""
    follow(a, b)
    follow(b, a, FollowOptions(special=True))
    for author in (a, b):
        publish(author)
    drain()
    for reader in (a, b):
        assert len(first_page(reader)) == 2
        write_lists(reader)


def deliveries_of(account_id: int) -> list[Delivery[EdgeChanged]]:
    rows = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("pk")
    return [
        Delivery(row.pk, row.owner_id, row.created_at, EdgeChanged(**row.payload))
        for row in rows
        if row.kind == EdgeChanged.kind
    ]


def test_block_holds_at_the_next_read(pair, drain):
    a, b = pair
    make_mutual(a, b, drain)
    assert block(a, b)
    for reader in (a, b):
        assert len(first_page(reader)) == 1
        for kept in LISTS:
            assert cached_members(kept, reader) == []
    assert (shown_to(a, b), shown_to(b, a)) == (BLOCKING, BLOCKED)
    drain()
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
    assert [len(first_page(reader)) for reader in (a, b)] == [1, 1]


def test_blockers_side_does_not_wait_for_the_other_shard(pair, drain, not_mirrored):
    """Rows, counts and the lists in Redis, changed in place."""
    a, b = pair
    make_mutual(a, b, drain)
    assert block(a, b)
    assert len(first_page(a)) == 1
    assert rows_seen_by(a, b) == shown_to(a, b) == BLOCKING
    assert cached_members(FOLLOWERS_LIST, a) == []
    counts = load_counts([a], [CounterKind.FOLLOWERS, CounterKind.FOLLOWING, CounterKind.BLOCKED])
    assert [count.value for count in counts[a].values()] == [0, 0, 1]
    # The other side reads its own shard, where the block is not mirrored yet.
    assert [cached_members(kept, b) for kept in (FOLLOWING_LIST, FOLLOWERS_LIST)] == [None, None]
    drain()
    assert len(first_page(b)) == 1
    assert rows_seen_by(b, a) == shown_to(b, a) == BLOCKED
    assert_drained_truth()
    assert_cached_lists_agree([a, b])


def test_blockers_side_read_from_the_rows_is_the_same(pair, drain, not_mirrored):
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    redis().call("FLUSHDB")
    assert len(first_page(a)) == 1
    assert shown_to(a, b) == BLOCKING


@pytest.mark.parametrize("quiet", [True, False])
def test_follow_begun_before_mirroring_is_never_seen_by_the_blocker(
    pair, drain, not_mirrored, quiet
):
    a, b = pair
    block(a, b)
    assert follow(b, a, FollowOptions(quiet=quiet))
    deliveries = deliveries_of(b)
    mirror_backward_edges(shard_of(b), deliveries)  # the follow arrives before the block does
    assert rows_seen_by(a, b) == shown_to(a, b) == BLOCKING
    assert load_counts([a])[a][CounterKind.FOLLOWERS].value == 0
    drain()
    assert live_pairs() == set()
    assert_drained_truth()


def test_block_taken_back_before_mirroring_has_ended_the_opposite_follow(pair, drain, not_mirrored):
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    unblock(a, b)
    assert rows_seen_by(a, b) == NOTHING
    drain()
    assert live_pairs() == set()
    assert_drained_truth()
    assert follow(b, a)


def test_late_block_that_had_ended_does_not_end_a_later_follow(pair, drain, not_mirrored):
    """The follow was acknowledged: its shard did not know of the block, which was over."""
    a, b = pair
    make_mutual(a, b, drain)
    for is_returned in (False, True):
        block(a, b)
        unblock(a, b)
        unfollow(b, a)  # what the block had ended, their shard does not know yet
        assert follow(b, a)
        if is_returned:
            follow(a, b)
        drain()
        assert live_pairs() == ({(b, a), (a, b)} if is_returned else {(b, a)})
        assert_drained_truth()
    block(a, b)
    drain()
    assert live_pairs() == set()
    assert_drained_truth()


def test_late_block_ends_the_follow_before_it_whatever_came_after(pair, drain, not_mirrored):
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    unblock(a, b)
    follow(a, b)
    drain()
    assert live_pairs() == {(a, b)}
    assert_drained_truth()


def test_follow_during_a_late_block_ends_with_it(pair, drain, not_mirrored):
    a, b = pair
    block(a, b)
    assert follow(b, a)
    followed_ms = now_ms()
    until(lambda: now_ms() > followed_ms)  # the clock counts milliseconds
    unblock(a, b)
    drain()
    assert live_pairs() == set()
    assert_drained_truth()


def test_follow_again_after_a_block_they_heard_of_stays(pair, drain):
    """A new block ends follows; an old block that is mirrored again does not."""
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    unblock(a, b)
    assert follow(b, a)
    blocks = deliveries_of(a)
    for _ in range(2):
        mirror_backward_edges(shard_of(a), blocks)
        drain()
        assert live_pairs() == {(b, a)}
    follow(a, b)
    drain()
    assert live_pairs() == {(b, a), (a, b)}
    assert_drained_truth()


def test_no_follow_over_a_block(pair):
    a, b = pair
    block(a, b)
    for follower, followee in ((a, b), (b, a)):
        for wish in (FollowOptions(), FollowOptions(quiet=True), FollowOptions(special=True)):
            with pytest.raises(CannotFollowBlocked):
                follow(follower, followee, wish)
    assert unfollow(a, b) is unfollow(b, a) is remove_follower(a, b) is False
    assert forward_edges().keys() == {(a, b)}


def test_unblock_restores_nothing_and_lets_follow_at_once(pair, drain):
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    assert unblock(a, b)
    assert shown_to(a, b) == shown_to(b, a) == NOTHING
    assert [len(first_page(reader)) for reader in (a, b)] == [1, 1]
    assert follow(b, a)
    assert follow(a, b)
    assert [len(first_page(reader)) for reader in (a, b)] == [2, 2]
    assert forward_edges()[b, a].flags == 0
    drain()
    assert_drained_truth()


def test_two_who_block_each_other_need_two_unblocks(pair, drain):
    a, b = pair
    make_mutual(a, b, drain)
    block(a, b)
    block(b, a)
    both = NOTHING._replace(blocking=True, blocked_by=True)
    assert shown_to(a, b) == shown_to(b, a) == both
    unblock(a, b)
    assert (shown_to(a, b), shown_to(b, a)) == (BLOCKED, BLOCKING)
    for follower, followee in ((a, b), (b, a)):
        with pytest.raises(CannotFollowBlocked):
            follow(follower, followee)
    unblock(b, a)
    assert follow(a, b)
    drain()
    assert_drained_truth()


def test_block_again_is_no_news_but_tells_again(pair, drain, monkeypatch):
    """A second try of the client mirrors what the first one did not."""
    a, b = pair
    make_mutual(a, b, drain)
    with monkeypatch.context() as patch:
        patch.setattr(block_module, "mirror_now", lambda *pair: False)
        assert block(a, b) is True
        assert shown_to(b, a).following
    assert block(a, b) is False
    assert shown_to(b, a) == BLOCKED


def test_unblock_again_tells_again(pair, drain, monkeypatch):
    a, b = pair
    block(a, b)
    with monkeypatch.context() as patch:
        patch.setattr(block_module, "mirror_now", lambda *pair: False)
        assert unblock(a, b) is True
    assert unblock(a, b) is False
    assert follow(b, a)


def test_block_is_dated_and_keeps_its_first_date(pair):
    a, b = pair
    block(a, b, lambda: 5)
    block(a, b, lambda: 9)
    edge = forward_edges()[a, b]
    assert (edge.attribute, edge.since_ms) == (Attribute.BLACK, 5)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_deliveries_twice_and_in_any_order_end_the_same(pair, drain, not_mirrored, order):
    """Deliveries of a follow, of the opposite block, and of the change between the two."""
    a, b = pair
    follow(b, a)
    follow(b, a, FollowOptions(quiet=True))
    block(a, b)
    deliveries = [*deliveries_of(b), *deliveries_of(a)]
    for reader in (a, b):
        write_lists(reader)
    for place in (*order, *order):
        delivery = deliveries[place]
        alias = shard_of(delivery.owner_id)
        mirror_backward_edges(alias, [delivery])
        refresh_following_lists(alias, [delivery])
        assert_no_contradiction(a, b)
        assert_no_contradiction(b, a)
    drain()
    assert live_pairs() == set()
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
