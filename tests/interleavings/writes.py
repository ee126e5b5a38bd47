"""Histories of writes: relations, counts and favourites, with their drains."""

from functools import partial

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from counters.cache import account_counts
from counters.jobs.drifting_counts import repair
from counters.jobs.rebuild_count_cache import rebuild_count_cache
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.block import block, unblock
from relations.actions.follow import (
    approve_request,
    follow,
    reject_request,
    remove_follower,
    unfollow,
)
from relations.actions.mirror import mirror_now
from relations.errors import CannotFollowBlocked, FollowRequestNotFound
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import (
    drain_lanes_of,
    in_order,
    make_friends,
    share_lane,
    slow_at,
)
from tests.interleavings.exploring import Play
from tests.world import drain_all, make_accounts, publish

EXPIRE = "UPDATE changes_drainlease SET expires_at = clock_timestamp() - interval '1 s'"


def follow_and_unfollow() -> Play:
    """A follow and its end, while both sides are drained."""
    people = me, friend = make_accounts(2)
    return Play(
        people,
        {
            "drain": partial(drain_lanes_of, me),
            "unfollow": partial(unfollow, me, friend),
            "follow": partial(follow, me, friend),
        },
    )


def two_mirrors() -> Play:
    """Two requests and the drain mirror one follow at the same time."""
    people = me, friend, other = make_accounts(3)
    follow(other, friend)
    drain_all()
    follow(me, friend)
    return Play(
        people,
        {
            "drain": partial(drain_lanes_of, me, other),
            "request": partial(mirror_now, me, friend),
            "another request": partial(mirror_now, me, friend),
        },
    )


def block_and_follow() -> Play:
    """A follow of an account that blocks the follower, or that the follower blocks."""
    people = me, other = make_accounts(2)
    follow(other, me)
    return Play(
        people,
        {
            "block": partial(block, me, other),
            "follow": in_order(partial(unfollow, other, me), partial(follow, other, me)),
            "drain": partial(drain_lanes_of, other, me),
        },
        (CannotFollowBlocked,),
    )


def request_and_answers() -> Play:
    """A request of a locked account is approved, and taken back, and its author is blocked."""
    people = me, famous = make_accounts(2)
    update_profile(famous, ProfileEdit(is_locked=True))
    follow(me, famous)
    publish(famous)
    return Play(
        people,
        {
            "answer": partial(approve_request, famous, me),
            "other answer": partial(reject_request, famous, me),
            "block": in_order(partial(block, famous, me), partial(unblock, famous, me)),
            "requester": in_order(partial(unfollow, me, famous), partial(follow, me, famous)),
            "drain": partial(drain_lanes_of, me, famous),
        },
        (CannotFollowBlocked, FollowRequestNotFound),
    )


def block_and_unblock() -> Play:
    """Two blocks against each other, one of which is taken back."""
    people = me, other = make_accounts(2)
    follow(me, other)
    drain_all()
    return Play(
        people,
        {
            "mine": in_order(partial(block, me, other), partial(unblock, me, other)),
            "theirs": partial(block, other, me),
            "follow": partial(follow, other, me),
        },
        (CannotFollowBlocked,),
    )


def removal_and_follow() -> Play:
    """A follower is removed and follows again."""
    people = me, fan = make_accounts(2)
    follow(fan, me)
    return Play(
        people,
        {
            "removal": partial(remove_follower, me, fan),
            "follow": partial(follow, fan, me),
            "drain": partial(drain_lanes_of, fan),
        },
    )


def two_drainers() -> Play:
    """A lease expires while its drainer works, and another one takes the lane."""
    people = me, friend, _ = make_friends(3)
    publish(me)
    unfollow(me, friend)
    publish(friend)
    follow(friend, me)
    return Play(
        people,
        {
            "drainer": partial(drain_lanes_of, me, friend),
            "expiry": lambda: [execute(shard_of(one), EXPIRE) for one in people],
            "another drainer": partial(drain_lanes_of, me, friend),
        },
    )


def follow_and_late_drainer() -> Play:
    """A drainer has read a follow, and another one delivers its end first."""
    people = me, friend = make_accounts(2)
    follow(me, friend)
    drain = partial(drain_lanes_of, me)
    expire = partial(execute, shard_of(me), EXPIRE)
    end = in_order(expire, partial(unfollow, me, friend), drain)
    return Play(people, {"late drainer": slow_at("relations.edges_read", drain), "unfollow": end})


def commits_out_of_order() -> Play:
    """A change gets its id before another one of its lane, and is committed after that one."""
    accounts = make_accounts(12)
    me, neighbour, *_ = (one for one in accounts if share_lane(one, accounts[0]))
    other = accounts[1]
    return Play(
        [me, neighbour, other],
        {
            "follow": partial(follow, neighbour, other),
            "drain": partial(drain_lanes_of, me),
            "block": partial(block, me, other),
        },
    )


def count_and_recount() -> Play:
    """Counts move while they are counted again and their cache is rebuilt."""
    people = me, friend, other = make_friends(3)
    account_counts.load_many(people)
    wrong = "UPDATE counters_counter SET value = value + 1 WHERE owner_id = %s AND subject = 0"
    alias = shard_of(friend)
    execute(alias, wrong, (friend,))
    return Play(
        people,
        {
            "moves": in_order(partial(follow, other, friend), partial(unfollow, me, friend)),
            "recount": in_order(partial(repair, alias, friend), partial(repair, alias, friend)),
            "another recount": partial(repair, alias, friend),
            "cache": lambda: list(rebuild_count_cache(Work([alias]))),
        },
    )


def favourite_and_end() -> Play:
    """A favourite and its end, while both sides are drained and the post's counts are read."""
    people = me, author = make_friends()
    post = publish(author)
    drain_all()
    mark = partial(mark_post, me, post, Kind.FAVOURITE)
    return Play(
        people,
        {
            "favourite": partial(mark, True),
            "end": partial(mark, False),
            "drain": partial(drain_lanes_of, me),
            "reader": in_order(partial(first_page, me), partial(first_page, author)),
        },
    )
