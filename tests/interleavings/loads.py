"""Histories of caches: loads, while what they read changes, is evicted or flushed."""

from collections.abc import Sequence
from functools import partial

from counters.cache import account_counts
from infra.caching.client import redis
from posts.actions.delete_post import delete_post
from posts.cache.weeks import WEEKS
from relations.actions.follow import follow, unfollow
from relations.cache import FOLLOWING
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import drain_lanes_of, evict, flush, in_order, make_friends
from tests.interleavings.exploring import Play
from tests.interleavings.outages import pass_outage
from tests.redis_away import wait_for_redis
from tests.world import drain_all, forget_memory, make_accounts, publish


def list_and_unfollow() -> Play:
    """The list of followees is loaded while a follow ends."""
    people = me, friend = make_friends()
    evict(FOLLOWING.family)()
    return Play(
        people,
        {"unfollow": partial(unfollow, me, friend), "load": partial(load_following, me)},
    )


def relationship_and_follow() -> Play:
    """A relationship is loaded while it begins, and while its other side is written."""
    people = me, other = make_accounts(2)
    begin = in_order(partial(follow, other, me), partial(drain_lanes_of, other))
    return Play(people, {"follow": begin, "load": partial(load_relationships, me, [other])})


def counts_and_follow() -> Play:
    """Counts of an account are loaded while they change and Redis evicts them."""
    people = me, other = make_accounts(2)
    return Play(
        people,
        {
            "eviction": evict(account_counts.family),
            "follow": partial(follow, me, other),
            "load": partial(account_counts.load_many, people),
        },
    )


def loads_and_changes() -> Play:
    """Lists, relationships and counts are loaded while they change and Redis evicts them."""
    people = me, friend, other = make_friends(3)
    flush()
    return Play(
        people,
        {
            "eviction": evict("relations", "counters"),
            "change": in_order(partial(unfollow, me, friend), partial(follow, other, me)),
            "load": in_order(
                partial(load_following, me),
                partial(load_relationships, me, people),
                partial(account_counts.load_many, people),
            ),
        },
    )


def flush_and_delete() -> Play:
    """Redis is emptied while a page loads a week, and then a post of the week is deleted."""
    people = me, friend = make_friends()
    post = publish(friend)
    drain_all()
    first_page(me)
    evict(WEEKS.family)()
    forget_memory()
    return Play(
        people,
        {
            "flush": flush,
            "delete": partial(delete_post, post),
            "reader": partial(first_page, me),
        },
    )


def flush_and_unfollow() -> Play:
    """Redis is emptied while a list is loaded, and then the list changes."""
    play = list_and_unfollow()
    return play._replace(actors={"flush": flush, **play.actors})


def outage_and_call() -> Play:
    """Redis is away for a moment while a call after a commit is on its way."""
    sent: list[int] = []

    def send(items: Sequence[int]) -> None:
        redis().call("PING")
        sent.extend(items)

    def assert_sent() -> None:
        wait_for_redis()
        assert sent == [1]

    call = partial(redis().send, send, items=[1])
    return Play([], {"call": call, "outage": pass_outage}, check=assert_sent, joining=1)
