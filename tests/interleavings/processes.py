"""Histories of two processes: one acts, the other reads. Each has its own memory and breaker."""

from collections.abc import Callable
from functools import partial

import pytest

from infra import read_window
from infra.caching import viewer_log
from infra.caching.client import redis
from infra.caching.viewer_validators import VIEWER_LOG, ViewerField, viewer_key
from posts.actions.delete_post import delete_post
from posts.cache.in_process import in_process_posts
from posts.cache.weeks import WEEKS
from posts.ids import PostId
from posts.queries.statuses import load_status_json
from relations.actions.block import block
from relations.actions.mute import mute
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import evict, make_friends
from tests.interleavings.exploring import Play
from tests.interleavings.outages import pass_outage
from tests.interleavings.second_process import SecondProcess, second_process
from tests.redis_away import wait_for_redis
from tests.world import drain_all, forget_memory, make_accounts, publish


def make_reader_elsewhere() -> tuple[list[int], PostId, SecondProcess]:
    """Two friends, and a post that both processes have in their memory."""
    people = me, friend = make_friends()
    post, second = publish(friend), second_process()
    drain_all()
    second.ask(forget_memory)
    for _ in range(2):
        assert second.ask(partial(first_page, me)) == first_page(me) == [post.public]
    return people, post, second


def delete_and_reader_elsewhere() -> Play:
    """A post is deleted in this process, and the other one shows pages."""
    people, post, second = make_reader_elsewhere()
    read = partial(first_page, people[0])
    return Play(
        people,
        {"reader": second.actor(read), "delete": partial(delete_post, post)},
        at_once=lambda: _assert_gone(second, people[0]),
    )


def readers_and_delete_elsewhere() -> Play:
    """Two threads of this process load a post that the other process deletes."""
    people, post, second = make_reader_elsewhere()
    read = partial(first_page, people[0])
    evict(WEEKS.family)()
    in_process_posts.forget_all()
    return Play(
        people,
        {
            "delete": second.actor(partial(delete_post, post)),
            "reader": read,
            "another reader": read,
        },
        at_once=lambda: _assert_gone(second, people[0]),
    )


def mute_and_reader_elsewhere() -> Play:
    """A mute in this process, while the other one shows pages and loads relationships.

    Only the relationship hides the post: lists and timelines are not changed.
    """
    (me, friend), _, second = make_reader_elsewhere()
    return Play(
        [],
        {"reader": second.actor(partial(first_page, me)), "mute": partial(mute, me, friend)},
        at_once=lambda: _assert_gone(second, me),
    )


def outage_and_reader_elsewhere() -> Play:
    """Redis is away for this process, which deletes a post, but not for the other one."""
    people, post, second = make_reader_elsewhere()

    def delete() -> None:
        delete_post(post)
        assert first_page(people[0]) == [], "this process shows it"

    return Play(
        people,
        {
            "reader": second.actor(partial(first_page, people[0])),
            "outage": pass_outage,
            "delete": delete,
        },
        at_once=lambda: _assert_gone(second, people[0]),
        joining=1,
    )


def block_and_known_viewer_elsewhere() -> Play:
    """A block in this process, while the other one reads and keeps the validators of the viewer."""
    (author, viewer), second = make_accounts(2), second_process()
    post = publish(author)
    drain_all()
    # Else the viewer counts as one who wrote lately, whose validators are not kept.
    redis().call("HDEL", viewer_key(viewer), ViewerField.WROTE.value)
    second.ask(forget_viewers)
    read = partial(read_by_known_viewer, post, viewer)
    for _ in range(4):
        assert second.ask(read) == [post]
    assert second.ask(partial(is_known, viewer))
    return Play(
        [],
        {"reader": second.actor(read), "block": partial(block, author, viewer)},
        at_once=lambda: _assert_hidden(second, read),
    )


def forget_viewers() -> None:
    """The world before had another log."""
    VIEWER_LOG.forget_all()
    VIEWER_LOG._paused_until = float("-inf")


def read_by_known_viewer(post: PostId, viewer: int) -> list[PostId]:
    """As in the read window, but the logs are read each time: time does not pass for actors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_window, "WINDOW_S", 1e-9)
        patch.setattr(viewer_log, "BUSY_S", 3_600.0)
        before = read_window.enter_read()
        try:
            return list(load_status_json([post], viewer))
        finally:
            read_window.leave_read(before)


def is_known(viewer: int) -> bool:
    return VIEWER_LOG.peek(viewer) is not None


def _assert_hidden(second: SecondProcess, read: Callable[[], list[PostId]]) -> None:
    assert second.ask(read) == [], "the other process shows it"


def _assert_gone(second: SecondProcess, me: int) -> None:
    """Neither process shows the post, and no drain has helped."""
    wait_for_redis()
    assert second.ask(partial(first_page, me)) == [], "the other process shows it"
    assert first_page(me) == [], "this process shows it"
