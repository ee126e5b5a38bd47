"""Histories of two processes: one acts, the other reads. Each has its own memory and breaker."""

from collections.abc import Callable
from functools import partial

from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.fragments.read import status_id_of
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.types import Draft
from relations.actions.block import block
from relations.actions.mute import mute
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import make_friends
from tests.interleavings.exploring import Play
from tests.interleavings.outages import pass_outage
from tests.interleavings.second_process import SecondProcess, second_process
from tests.redis_away import wait_for_redis
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.home.page import home_page


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


def edit_and_reader_elsewhere() -> Play:
    """A post is edited in this process, and the other one remembers pages. No count changes."""
    people, post, second = make_reader_elsewhere()
    (row,) = read_posts(shard_of(post.author_id), [post])
    read = partial(read_texts, people[0])
    return Play(
        people,
        {"reader": second.actor(read), "edit": partial(edit_post, row, Draft("edited"))},
        at_once=lambda: _assert_edited(second, read),
    )


def read_texts(me: int) -> bytes:
    return b"".join(home_page(me, Window(20)).items)


def _assert_edited(second: SecondProcess, read: Callable[[], bytes]) -> None:
    assert b"edited" in second.ask(read), "the other process shows the old text"


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


def block_and_author_page_elsewhere() -> Play:
    """A block in this process, while the other one remembers the author's page for the viewer."""
    (author, viewer), second = make_accounts(2), second_process()
    post = publish(author)
    drain_all()
    second.ask(forget_memory)
    read = partial(read_author_page, author, viewer)
    for _ in range(2):
        assert second.ask(read) == [post.public]
    return Play(
        [],
        {"reader": second.actor(read), "block": partial(block, author, viewer)},
        at_once=lambda: _assert_hidden(second, read),
    )


def read_author_page(author: int, viewer: int) -> list[str]:
    """Public ids, from a page that the process remembers."""
    query = AuthorTimelineQuery(author, viewer)
    return list(map(status_id_of, author_page(query, Window(20)).items))


def _assert_hidden(second: SecondProcess, read: Callable[[], list[str]]) -> None:
    assert second.ask(read) == [], "the other process shows it"


def _assert_gone(second: SecondProcess, me: int) -> None:
    """Neither process shows the post, and no drain has helped."""
    wait_for_redis()
    assert second.ask(partial(first_page, me)) == [], "the other process shows it"
    assert first_page(me) == [], "this process shows it"
