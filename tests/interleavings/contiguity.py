"""Histories of one author's posts: no page shows a later one without those before it."""

from collections.abc import Sequence
from functools import partial

import orjson
from django.conf import settings

from infra.api.pages import Window
from posts.actions.repost import repost
from posts.ids import PostId
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.types import RepliesPolicy
from tests.interleavings.acts import drain_lanes_of, evict, in_order
from tests.interleavings.exploring import Play
from tests.interleavings.second_process import second_process
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.cache import public_ids
from timelines.feeds.list import account_list_page
from timelines.feeds.public import public_page
from timelines.home.page import home_page
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.tags.feed import tag_page
from timelines.tags.types import TagQuery

TEXT = "a cup of #tea"
READS = 3
Pages = dict[str, list[str]]


def read_pages(viewer_id: int, list_id: int) -> Pages:
    """The posts of each kind of timeline, as this process shows them. A repost shows its post."""
    newest = Window(20)
    pages = {
        "home": home_page(viewer_id, newest),
        "list": account_list_page(viewer_id, list_id, newest),
        "tag": tag_page(TagQuery(viewer_id, ["tea"]), newest),
        "public": public_page(viewer_id, newest),
    }
    return {name: [_shown(body) for body in page.items] for name, page in pages.items()}


def posts_and_slow_repost() -> Play:
    """An author posts again and again, another account reposts, and a follower reads all pages."""
    return _play("repost", is_elsewhere=False)


def slow_posts_and_reader_elsewhere() -> Play:
    """The same, and the follower reads in another process."""
    return _play("author", is_elsewhere=True)


def posts_and_their_author() -> Play:
    """The author reads the pages between posts, in this process and in another one."""
    return _play("reader", is_elsewhere=True, is_author=True)


def _play(raced: str, is_elsewhere: bool, is_author: bool = False) -> Play:
    for alias in settings.SHARD_ALIASES:
        lower_low_water_mark(alias, 0)
    me, author, booster = people = make_accounts(3)
    for one in (author, booster):
        follow(me, one)
    follow(booster, author)
    follow(author, booster)
    made = [publish(author, TEXT)]
    drain_all()
    reader = author if is_author else me
    list_id = create_account_list(me, "close", RepliesPolicy.LIST).list_id
    add_members(me, list_id, [author, booster])
    drain_all()
    if is_author:
        list_id = create_account_list(author, "close", RepliesPolicy.LIST).list_id
        add_members(author, list_id, [booster])
    seen: list[Pages] = []
    read = partial(read_pages, reader, list_id)
    ask = partial(second_process().ask, read)
    second_process().ask(forget_memory)

    def look() -> None:
        seen.extend(ask() if is_elsewhere else read() for _ in range(READS))

    def post() -> None:
        for _ in range(2):
            made.append(publish(author, TEXT))
            if is_author:
                seen.append(read())
                assert made[-1].public in seen[-1]["home"], "an own post is not shown"

    boost = in_order(partial(repost, booster, made[0]), partial(drain_lanes_of, booster))
    actors = {
        "eviction": evict(public_ids.family),
        "repost": boost,
        "author": in_order(post, partial(drain_lanes_of, author), post),
        "reader": look,
    }
    actors[raced] = actors.pop(raced)
    return Play(people, actors, check=lambda: assert_contiguous(made, seen))


def assert_contiguous(made: Sequence[PostId], seen: Sequence[Pages]) -> None:
    """Each page has the first of these posts, up to some post."""
    order = [post.public for post in made]
    for pages in seen:
        for name, shown in pages.items():
            known = [post for post in order if post in shown]
            assert known == order[: len(known)], f"{name} shows a post without one before it"


def _shown(body: bytes) -> str:
    status = orjson.loads(body)
    return str((status["reblog"] or status)["id"])
