"""Histories of three things at a time: a drain or a load, an act, and a rebuild or a loss."""

from functools import partial

import pytest
from django.conf import settings

from infra.changes.append import finish_interrupted
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import load_relationships
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import (
    drain_lanes_of,
    evict,
    flush,
    in_order,
    make_friends,
    slow_at,
)
from tests.interleavings.exploring import Play
from tests.world import drain_all, forget_memory, publish
from timelines.stores.factory import timeline_store


def delete_build_and_repeat() -> Play:
    """A post is deleted and drained, while a page is built and a request repeats its creation."""
    people = me, friend = make_friends()
    publish(friend)
    drain_all()
    first_page(me)
    post = publish(friend)
    timeline_store().drop(me)

    def delete() -> None:
        delete_post(post)
        assert post.public not in first_page(me), "a deleted post is shown"

    return Play(
        people,
        {
            "reader": partial(first_page, me),
            "delete": delete,
            "drain": slow_at("fan_out.indexed", partial(drain_lanes_of, friend)),
            "repeat": partial(finish_interrupted, shard_of(friend), friend),
        },
    )


def unfollow_push_and_build() -> Play:
    """A home timeline is built slowly while a post is pushed and the reader ends another follow."""
    people = me, friend, other = make_friends(3)
    publish(other)
    drain_all()
    timeline_store().drop(me)
    return Play(
        people,
        {
            "reader": slow_at("rebuild.computed", partial(first_page, me)),
            "post": in_order(partial(publish, friend), partial(drain_lanes_of, friend)),
            "unfollow": partial(unfollow, me, other),
        },
    )


def block_load_and_flush() -> Play:
    """A relationship is loaded while it becomes a block and Redis is emptied."""
    people = me, friend = make_friends()
    publish(friend)
    drain_all()
    evict(RELATIONSHIPS.family)()

    def block_me() -> None:
        block(friend, me)
        assert first_page(me) == [], "a post of a blocker is shown"

    return Play(
        people,
        {
            "flush": flush,
            "block": block_me,
            "load": partial(load_relationships, me, [friend]),
        },
    )


def undo_load_and_eviction() -> Play:
    """Counts of a post are loaded while a repost ends and Redis evicts them."""
    people = _, friend, author = make_friends(3)
    post = publish(author)
    repost(friend, post)
    drain_all()
    evict(post_counts.family)()
    return Play(
        people,
        {
            "eviction": evict(post_counts.family),
            "undo": in_order(partial(undo_repost, friend, post), partial(drain_lanes_of, friend)),
            "load": partial(post_counts.load_many, [number_of(post)]),
        },
    )


def hot_author_and_load() -> Play:
    """An author becomes hot and posts while a page reads the hot authors from the shards."""
    patch = pytest.MonkeyPatch()
    for setting, limit in (("INLINE_FOLLOWERS", 1), ("HOT_FOLLOWERS", 2)):
        patch.setattr(settings, setting, limit)
    people = me, star, fan = make_friends(3)
    follow(fan, star)
    drain_all()
    evict("timelines.hot")()
    forget_memory()
    post = partial(publish, star)
    return Play(
        people,
        {"posts": in_order(post, drain_all, post, drain_all), "reader": partial(first_page, me)},
        end=patch.undo,
    )
