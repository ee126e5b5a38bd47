"""Histories of home timelines: posts and deletions while pages are built, pushed to, and polled."""

from functools import partial

import pytest

from infra.api.pages import Page, Window
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from posts.cache.weeks import WEEKS
from relations.actions.follow import follow, unfollow
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.polling_clients import MinIdClient
from tests.integration.timelines.virtual_time import VirtualTime
from tests.interleavings.acts import (
    drain_lanes_of,
    evict,
    flush,
    in_order,
    make_friends,
)
from tests.interleavings.exploring import Play
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.home.page import home_page
from timelines.stores.factory import timeline_store

# Longer than a client waits for the answer to a poll.
POLL_EVERY_MS = 8_000


def post_and_unfollow() -> Play:
    """A follow ends and begins again while a post is fanned out."""
    people = me, friend = make_friends()

    def leave() -> None:
        unfollow(me, friend)
        assert first_page(me) == [], "a post of a former followee is shown"

    return Play(
        people,
        {
            "post": in_order(partial(publish, friend), partial(drain_lanes_of, friend)),
            "unfollow": leave,
            "drain": partial(drain_lanes_of, me),
        },
    )


def post_and_follow() -> Play:
    """Old posts come with the follow and new ones by push."""
    people = me, friend = make_accounts(2)
    publish(friend)
    drain_all()
    first_page(me)
    return Play(
        people,
        {
            "follow": in_order(partial(follow, me, friend), partial(drain_lanes_of, me)),
            "post": in_order(partial(publish, friend), partial(drain_lanes_of, friend)),
            "reader": partial(first_page, me),
        },
    )


def delete_and_load() -> Play:
    """A post is deleted while a page loads its week into Redis."""
    people = me, friend = make_friends()
    post = publish(friend)
    drain_all()
    first_page(me)
    evict(WEEKS.family)()
    forget_memory()

    def delete() -> None:
        delete_post(post)
        assert post.public not in first_page(me), "a deleted post is shown"

    return Play(people, {"delete": delete, "reader": partial(first_page, me)})


def delete_and_build() -> Play:
    """A post is deleted while two requests load everything into an empty Redis."""
    people = me, friend = make_friends()
    post = publish(friend)
    drain_all()
    flush()
    return Play(
        people,
        {
            "reader": partial(first_page, me),
            "author": partial(first_page, friend),
            "delete": partial(delete_post, post),
        },
    )


def rebuild_and_push() -> Play:
    """A post is pushed while two requests build the home timeline, and Redis evicts it."""
    people = me, friend = make_friends()
    publish(friend)
    drain_all()
    timeline_store().drop(me)
    return Play(
        people,
        {
            "reader": partial(first_page, me),
            "eviction": partial(timeline_store().drop, me),
            "post": in_order(partial(publish, friend), partial(drain_lanes_of, friend)),
            "another reader": partial(first_page, me),
        },
    )


def rebuild_and_delete() -> Play:
    """A post is deleted and the timeline lost while a request builds it."""
    people = me, friend = make_friends()
    posts = [publish(friend) for _ in range(2)]
    drain_all()
    timeline_store().drop(me)
    return Play(
        people,
        {
            "reader": partial(first_page, me),
            "delete": in_order(partial(delete_post, posts[0]), partial(drain_lanes_of, friend)),
            "loss": partial(timeline_store().drop, me),
        },
    )


def repost_and_undo() -> Play:
    """A repost and its end, and the end of its original."""
    people = me, friend, author = make_friends(3)
    follow(author, friend)
    post = publish(author)
    drain_all()
    return Play(
        people,
        {
            "repost": in_order(partial(repost, friend, post), partial(drain_lanes_of, friend)),
            "undo": partial(undo_repost, friend, post),
            "delete": in_order(partial(first_page, me), partial(delete_post, post)),
        },
    )


def polls_of_one_token() -> Play:
    """Two clients of one token poll while a post is delivered that is below their cursor."""
    people = me, *friends = make_friends(3)
    patch = pytest.MonkeyPatch()
    time = VirtualTime(patch)
    made = [publish(friend, clock_s=time.clock_s) for friend in friends]
    drain_all()

    def read(window: Window) -> Page[bytes]:
        return home_page(me, window, time.clock_ms, "token")

    clients = [MinIdClient(read) for _ in range(2)]
    # From now on the records of this token are complete.
    clients[0].poll()
    time.pass_ms(POLL_EVERY_MS)
    made += [publish(friend, clock_s=time.clock_s) for friend in friends]
    drain_lanes_of(friends[1])
    time.pass_ms(POLL_EVERY_MS)

    def assert_complete() -> None:
        """Each client gets what the other one got with the next page that moves it on."""
        for _ in range(2):
            time.pass_ms(POLL_EVERY_MS)
            made.append(publish(friends[1], clock_s=time.clock_s))
            drain_all()
            for client in clients:
                client.poll_to_end()
        assert [set(made) - client.seen for client in clients] == [set(), set()]

    late = partial(drain_lanes_of, friends[0])
    return Play(
        people,
        {"late post": late, "another client": clients[1].poll, "client": clients[0].poll},
        check=assert_complete,
        end=patch.undo,
    )
