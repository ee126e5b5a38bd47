"""Reads, pushes, builds and follows at the same moment: nothing is missing once drained."""

from collections.abc import Callable, Iterator
from contextvars import Context
from datetime import UTC, datetime
from functools import partial
from unittest.mock import patch

import pytest
from django.conf import settings

from infra.caching.client import redis
from infra.changes.batch_rows import batch_rows
from infra.changes.failpoints import arm, disarm
from infra.changes.registry import Delivery
from infra.sharding.buckets import shard_of
from relations.actions.follow import follow, unfollow
from relations.changes import EdgeChanged
from relations.queries.edges import KnownFollow, load_forward_edges
from relations.queries.following import load_following
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import drain_lanes_of, share_lane
from tests.races import failures, run_together
from tests.world import drain_all, make_accounts, publish
from timelines.actions import change_following as change_following_module
from timelines.actions.change_following import change_following
from timelines.consumers import apply_following_changes
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.stores.factory import timeline_store

ROUNDS = 8


@pytest.fixture
def at_failpoint() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Runs an action once, after a timeline is computed and before it is stored."""
    yield partial(arm_once, "rebuild.computed")
    disarm("rebuild.computed")


def arm_once(place: str, action: Callable[[], object]) -> None:
    def run() -> None:
        disarm(place)
        action()

    arm(place, run)


@pytest.fixture
def between_edge_and_timeline() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Runs an action once, after a step was read and before it changes the timeline."""
    yield partial(arm_once, "timelines.follow_read")
    disarm("timelines.follow_read")


def newest_step(follower: int, followee: int) -> Delivery[EdgeChanged]:
    """As the drain delivers it: it must read the edge itself."""
    version = load_following(follower).version
    step = EdgeChanged(followee, version - 1, version)
    return Delivery(1, follower, datetime.now(UTC), step)


def test_a_late_unfollow_does_not_undo_a_follow(
    world: None, between_edge_and_timeline: Callable[[Callable[[], object]], None]
) -> None:
    """The drain has read that I do not follow. I follow again, and have my answer."""
    me, friend = make_accounts(2)
    publish(friend)
    follow(me, friend)
    drain_all()
    assert len(first_page(me)) == 1
    unfollow(me, friend)
    late = newest_step(me, friend)
    between_edge_and_timeline(lambda: follow(me, friend))
    apply_following_changes(shard_of(me), [late])
    assert len(first_page(me)) == 1


def test_a_late_follow_does_not_undo_an_unfollow(
    world: None, between_edge_and_timeline: Callable[[Callable[[], object]], None]
) -> None:
    me, friend = make_accounts(2)
    publish(friend)
    drain_all()
    first_page(me)
    follow(me, friend)
    late = newest_step(me, friend)
    between_edge_and_timeline(lambda: (unfollow(me, friend), drain_all()))
    apply_following_changes(shard_of(me), [late])
    # Not the page: it leaves these posts out, and repairs the timeline.
    assert not timeline_store().peek([me])[me].data


def test_a_late_batch_does_not_undo_what_came_after_its_first_read(world: None) -> None:
    """A worker hung after the first consumer of its batch had read the edge."""
    me, friend = make_accounts(2)
    publish(friend)
    follow(me, friend)
    drain_all()
    first_page(me)
    unfollow(me, friend)
    late = newest_step(me, friend)
    with batch_rows():
        load_forward_edges(shard_of(me), [(me, friend)])
        # Another process, which does not share the rows of this batch.
        Context().run(follow, me, friend)
        assert len(Context().run(first_page, me)) == 1
        apply_following_changes(shard_of(me), [late])
    assert len(first_page(me)) == 1


def test_a_step_that_is_outdated_each_time_drops_the_timeline(world: None) -> None:
    me, friend = make_accounts(2)
    publish(friend)
    follow(me, friend)
    drain_all()
    first_page(me)
    old = KnownFollow(is_follow=False, version=0)
    with patch.object(change_following_module, "load_follows", lambda _, pairs: {pairs[0]: old}):
        change_following(me, EdgeChanged(friend, 0, 0), old)
    assert timeline_store().find_complete_from(me) is None
    assert len(first_page(me)) == 1


def test_a_post_pushed_between_computing_and_laying_is_kept(
    world: None, at_failpoint: Callable[[Callable[[], object]], None]
) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()
    at_failpoint(lambda: (publish(friend), drain_all()))
    first_page(me)
    assert len(first_page(me)) == 1


def test_a_follow_between_computing_and_laying_is_kept(
    world: None, at_failpoint: Callable[[Callable[[], object]], None]
) -> None:
    me, friend = make_accounts(2)
    publish(friend)
    at_failpoint(lambda: follow(me, friend))
    first_page(me)
    assert len(first_page(me)) == 1


def test_a_lost_timeline_is_not_laid_over_missed_pushes(
    world: None, at_failpoint: Callable[[Callable[[], object]], None]
) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()
    at_failpoint(lambda: (redis().call("FLUSHDB"), publish(friend), drain_all()))
    first_page(me)
    assert len(first_page(me)) == 1


def test_a_post_published_during_a_build_is_not_lost(world: None) -> None:
    """The reader's timeline is rebuilt while the post is committed and drained."""
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()
    for turn in range(ROUNDS):
        timeline_store().drop(me)
        expected = len(first_page(me, 40)) if turn == 0 else min(turn, 40)
        answers = run_together(
            [
                partial(first_page, me),
                partial(first_page, me),
                lambda: (publish(friend), drain_all()),
            ]
        )
        assert not failures(answers)
        drain_all()
        assert len(first_page(me, 40)) == min(expected + 1, 40)


@pytest.fixture
def reader_and_friend(world: None) -> tuple[int, int]:
    """I have a live timeline. The drain of my friend's changes does not deliver mine."""
    me, *others = make_accounts(8)
    first_page(me)
    return me, next(one for one in others if not share_lane(one, me))


def publish_and_push(author: int, posts: list[str]) -> None:
    posts.append(publish(author).public)
    drain_lanes_of(author)


# What the mirror does first.
FIND_HOT = "relations.consumers.find_hot_counts"
PLACES = (
    *("changes.committed", "changes.consumed_inline", "before the mirror"),
    *("relations.mirrored", "timelines.follow_read"),
)


@pytest.mark.parametrize("place", PLACES)
def test_a_post_between_the_steps_of_a_follow_is_not_lost(
    reader_and_friend: tuple[int, int], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by the request or the drain, or pushed."""
    me, friend = reader_and_friend
    posts: list[str] = []
    push = partial(publish_and_push, friend, posts)
    if place == "before the mirror":
        with monkeypatch.context() as patch:
            patch.setattr(FIND_HOT, lambda *_: (push(), ())[1])
            follow(me, friend)
            drain_lanes_of(me)
    else:
        arm_once(place, push)
        try:
            follow(me, friend)
            drain_lanes_of(me)
        finally:
            disarm(place)
    drain_all()
    assert posts
    assert first_page(me) == posts


def test_a_post_before_the_mirror_of_the_drain_is_not_lost(
    reader_and_friend: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """My friend's new post is pushed before my edge is there."""
    me, friend = reader_and_friend
    posts: list[str] = []
    follow(me, friend)
    publish_and_push(friend, posts)
    drain_all()
    assert first_page(me) == posts


@pytest.mark.parametrize("is_drained", [False, True])
def test_a_post_published_during_a_follow_is_not_lost(world: None, is_drained: bool) -> None:
    """Old posts come by backfill, new ones by push: together without a gap."""
    me, *friends = make_accounts(ROUNDS + 1)
    first_page(me)
    for friend in friends:
        before = publish(friend)
        calls = [partial(follow, me, friend), partial(publish, friend), partial(first_page, me)]
        if is_drained:
            calls.append(drain_all)
        answers = run_together(calls)
        assert not failures(answers)
        drain_all()
        during = answers[1]
        assert {before.public, during.public} <= set(first_page(me, 40))
        unfollow(me, friend)


def test_toggling_a_follow_ends_as_the_rows_say(world: None) -> None:
    me, friend = make_accounts(2)
    post = publish(friend)
    first_page(me)
    for _ in range(ROUNDS):
        answers = run_together(
            [partial(follow, me, friend), partial(unfollow, me, friend), drain_all]
        )
        assert not failures(answers)
        drain_all()
        was_followed = first_page(me) == [post.public]
        assert unfollow(me, friend) is was_followed
        assert first_page(me) == []


def test_posts_of_a_new_followee_that_are_not_indexed_come_later_and_stay(world: None) -> None:
    """Else the next build would not find them, and the page would go backwards."""
    for alias in settings.SHARD_ALIASES:
        lower_low_water_mark(alias, 0)
    me, *others = make_accounts(12)
    friend, other = [one for one in others if not share_lane(one, me)][:2]
    follow(me, other)
    drain_all()
    first_page(me)
    post = publish(friend)
    follow(me, friend)
    drain_lanes_of(me)
    before = first_page(me)
    unfollow(me, other)
    drain_lanes_of(me)
    timeline_store().drop(me)
    assert set(before) <= set(first_page(me))
    drain_all()
    assert first_page(me) == [post.public]
