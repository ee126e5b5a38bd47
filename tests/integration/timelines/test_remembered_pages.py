"""A page is remembered in process memory, and used again only if it would be the same page."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from accounts.actions.update_profile import update_profile
from accounts.errors import AccountNotFound
from accounts.types import ProfileEdit
from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.filters.actions.edit_filters import edit_filters
from posts.filters.types import FilterEdit, KeywordEdit
from posts.queries.rows import read_posts
from posts.types import Draft, Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.homes import ids_of
from tests.integration.timelines.stars import Fans
from tests.redis_away import redis_away
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.home.page import home_page
from timelines.stores.factory import STORES, timeline_store

FIRST = Window(5)


def later() -> float:
    return time.time() + 2


class Fan:
    """I follow two friends, each with four posts, and one without posts. A repost is shown first.

    A post of the silent one changes nothing that the page was made of before.
    """

    def __init__(self) -> None:
        self.me, self.friend, self.other, self.far, self.silent = make_accounts(5)
        for friend in (self.friend, self.other, self.silent):
            follow(self.me, friend)
        self.posts = [publish(friend) for friend in (self.friend, self.other) * 4]
        self.stranger, self.own = publish(self.far), publish(self.me, clock_s=later)
        self.repost = repost(self.friend, self.stranger, clock_s=later)
        drain_all()
        self.look()

    def look(self, window: Window = FIRST) -> Page[bytes]:
        """Twice: the first read may load what the second one finds in Redis."""
        home_page(self.me, window)
        return home_page(self.me, window)


@pytest.fixture
def fan(world: None) -> Fan:
    return Fan()


def test_the_same_page_is_used_again_after_one_round_trip(fan: Fan) -> None:
    page = fan.look()
    with count_calls() as calls:
        assert home_page(fan.me, FIRST) is page
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_each_window_has_its_own_page(fan: Fan) -> None:
    first = fan.look()
    second = fan.look(Window(5, max_id=first.older))
    assert not set(ids_of(first.items)) & set(ids_of(second.items))
    assert home_page(fan.me, FIRST) is first
    assert len(fan.look(Window(2)).items) == 2


def rename(account: int) -> None:
    update_profile(account, ProfileEdit(display_name="New"))


def edit_newest(fan: Fan) -> None:
    (row,) = read_posts(shard_of(fan.posts[-1].author_id), [fan.posts[-1]])
    edit_post(row, Draft("another text"))


def add_filter(account: int) -> None:
    filter_edit = FilterEdit(title="hello", keywords=[KeywordEdit(keyword="hello")])
    edit_filters(account, lambda book: book.create(filter_edit))


CHANGES: dict[str, Callable[[Fan], object]] = {
    "a new post": lambda fan: (publish(fan.silent, clock_s=later), drain_all()),
    "an edited post": edit_newest,
    "a filter of mine": lambda fan: add_filter(fan.me),
    "a deleted post": lambda fan: delete_post(fan.posts[-1]),
    "an own post is deleted": lambda fan: delete_post(fan.own),
    "a follow ends": lambda fan: unfollow(fan.me, fan.other),
    "a mute": lambda fan: mute(fan.me, fan.other),
    "a block by the author": lambda fan: (block(fan.other, fan.me), drain_all()),
    "a repost is taken back": lambda fan: delete_post(fan.repost),
    "the reposted post is deleted": lambda fan: delete_post(fan.stranger),
    "the author of the reposted post is muted": lambda fan: mute(fan.me, fan.far),
    "the author of the reposted post blocks": lambda fan: (block(fan.far, fan.me), drain_all()),
    "the reposter is hidden": lambda fan: follow(fan.me, fan.friend, FollowOptions(reposts=False)),
    "the name of the reposter": lambda fan: rename(fan.friend),
    "the name of the reposted author": lambda fan: rename(fan.far),
    "a name": lambda fan: rename(fan.posts[-1].author_id),
    "a favourite of mine": lambda fan: mark_post(fan.me, fan.stranger, Kind.FAVOURITE, True),
    "a favourite of another": lambda fan: (
        mark_post(fan.other, fan.stranger, Kind.FAVOURITE, True),
        drain_all(),
    ),
    "the timeline was dropped, and a post is gone": lambda fan: (
        timeline_store().drop(fan.me),
        delete_post(fan.posts[-1]),
    ),
}


@pytest.mark.redis("single", "cluster")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_at_the_next_read(fan: Fan, change: str) -> None:
    before = fan.look()
    assert home_page(fan.me, FIRST) is before
    CHANGES[change](fan)
    after = home_page(fan.me, FIRST)
    assert after != before
    forget_memory()
    assert after == home_page(fan.me, FIRST), "what a process without memory reads"


@pytest.mark.parametrize("store", STORES)
def test_every_store_says_when_its_timeline_changed(
    world: None, settings: Settings, store: str
) -> None:
    settings.TIMELINE_STORE = store
    timeline_store.cache_clear()
    fan = Fan()
    before = fan.look()
    new = publish(fan.silent, clock_s=later)
    drain_all()
    assert ids_of(before.items) != ids_of(home_page(fan.me, FIRST).items)
    assert new.public in ids_of(home_page(fan.me, FIRST).items)
    timeline_store.cache_clear()


def test_a_page_without_a_stored_timeline_is_not_kept(fan: Fan) -> None:
    """That there is none says nothing. It may be so again later, with other posts."""
    timeline_store().drop(fan.me)
    home_page(fan.me, FIRST)
    new = publish(fan.silent, clock_s=later)
    drain_all()
    timeline_store().drop(fan.me)
    assert new.public in ids_of(home_page(fan.me, FIRST).items)


def test_a_page_without_an_author_who_is_muted_for_good_is_kept(fan: Fan) -> None:
    mute(fan.me, fan.other)
    assert fan.look() is fan.look()


def test_a_page_without_an_author_who_is_muted_for_a_time_ends_with_the_mute(fan: Fan) -> None:
    """The mute ends by the clock, and nothing else changes then."""
    ends_ms = now_ms() + 20_000
    mute(fan.me, fan.other, duration_s=20, clock_ms=lambda: ends_ms - 20_000)
    before = fan.look()
    assert home_page(fan.me, FIRST, clock_ms=lambda: ends_ms - 1) is before
    assert home_page(fan.me, FIRST, clock_ms=lambda: ends_ms) != before


def test_a_page_with_an_author_whose_mute_has_ended_is_kept(fan: Fan) -> None:
    """An ended mute stays in its row until the next one."""
    mute(fan.me, fan.other, duration_s=20, clock_ms=lambda: now_ms() - 30_000)
    assert fan.look() is fan.look()


def test_a_page_of_a_reader_whose_filter_ends_is_not_kept(fan: Fan) -> None:
    ending = FilterEdit(
        title="hello",
        keywords=[KeywordEdit(keyword="hello")],
        expires_ms=now_ms() + 20_000,
        has_expiry=True,
    )
    edit_filters(fan.me, lambda book: book.create(ending))
    assert fan.look() is not fan.look()


def test_a_page_that_needs_older_posts_than_the_timeline_has_is_not_kept(
    tiny_timelines: None, fan: Fan
) -> None:
    """They come from the shards. The timeline says nothing about their changes."""
    whole = Window(20)
    assert len(fan.look(whole).items) == len(fan.posts) + 2
    assert fan.look(whole) is not fan.look(whole)


def test_the_next_page_leaves_the_first_one_there(fan: Fan) -> None:
    first = fan.look()
    next_ = Window(FIRST.limit, max_id=first.older)
    assert fan.look(next_) is fan.look(next_)
    assert home_page(fan.me, FIRST) is first


@pytest.fixture
def hot(fans: Fans) -> Fans:
    """The star is hot."""
    fans.heat()
    fans.post()
    drain_all()
    return fans


def test_new_entries_of_a_hot_author_end_the_page(hot: Fans) -> None:
    for _ in range(3):
        home_page(hot.me, FIRST)
    hot.post()
    drain_all()
    assert ids_of(home_page(hot.me, FIRST).items) == hot.expected()


def test_an_author_who_becomes_hot_ends_the_page(fans: Fans) -> None:
    for _ in range(2):
        home_page(fans.me, FIRST)
    fans.heat()
    fans.post()
    drain_all()
    assert ids_of(home_page(fans.me, FIRST).items) == fans.expected()


def test_a_page_that_was_made_without_redis_is_not_remembered(fan: Fan) -> None:
    with redis_away():
        made = home_page(fan.me, FIRST)
        assert home_page(fan.me, FIRST) is not made
    assert home_page(fan.me, FIRST) is not made


def test_a_remembered_page_is_not_used_without_redis(fan: Fan) -> None:
    page = fan.look()
    with redis_away():
        delete_post(fan.posts[-1])
        assert home_page(fan.me, FIRST) is not page
        assert fan.posts[-1].public not in ids_of(home_page(fan.me, FIRST).items)


def test_a_lost_entry_makes_the_page_anew(fan: Fan) -> None:
    """One key of each family that the page was made of is evicted."""
    page = fan.look()
    for key in sorted(redis().call("KEYS", "*")):
        kept = redis().call("DUMP", key)
        redis().call("DEL", key)
        assert home_page(fan.me, FIRST) == page, key
        if kept is not None and not redis().call("EXISTS", key):
            redis().call("RESTORE", key, 0, kept)


def test_viewers_of_an_author_have_their_own_pages(fan: Fan) -> None:
    mark_post(fan.me, fan.posts[-1], Kind.FAVOURITE, True)
    drain_all()
    author = fan.posts[-1].author_id
    pages = {}
    for _ in range(3):
        for viewer in (None, fan.me, fan.far):
            pages[viewer] = author_page(AuthorTimelineQuery(author, viewer), FIRST)
    assert b'"favourited":true' in pages[fan.me].items[0]
    assert pages[None] == pages[fan.far] != pages[fan.me]


AUTHOR_CHANGES = CHANGES | {
    # It changes no count that the posts are shown with.
    "a bookmark of mine": lambda fan: mark_post(fan.me, fan.posts[-1], Kind.BOOKMARK, True),
}


def look_at_author(fan: Fan) -> list[bytes]:
    """The page of one of my friends, as it is, and as a process without memory makes it."""
    author = fan.posts[-1].author_id
    try:
        return [*author_page(AuthorTimelineQuery(author, fan.me), FIRST).items]
    except AccountNotFound:
        return []


def test_the_viewer_of_a_plain_page_is_confirmed_by_two_commands(fan: Fan) -> None:
    """As all replies are the same, nothing is decoded."""
    pages = [look_at_author(fan) for _ in range(4)]
    sent = list[Any]()
    run = redis()._run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis(), "_run", lambda commands: sent.extend(commands) or run(commands))
        assert look_at_author(fan) == pages[0]
    assert all(isinstance(command, bytes) for command in sent)
    mine = [command for command in sent if b"{%d}" % fan.me in command]
    assert len(mine) == 2, "the viewer state, and the validator of relationships"


@pytest.mark.redis("single", "cluster")
@pytest.mark.parametrize("change", AUTHOR_CHANGES)
def test_a_change_shows_at_the_next_read_of_an_author(fan: Fan, change: str) -> None:
    for _ in range(4):
        look_at_author(fan)
    AUTHOR_CHANGES[change](fan)
    shown = look_at_author(fan)
    forget_memory()
    assert shown == look_at_author(fan)


def test_headers_are_those_of_the_request(fan: Fan) -> None:
    fan.look()
    client = Caller(fan.me).client
    for text in ("one", "two", "one"):
        answer = client.get(f"/api/v1/timelines/home?limit=5&other={text}")
        assert f"limit=5&other={text}&" in answer["Link"]
    tags = [client.get(f"/api/v1/timelines/home?limit=5&other={n}")["ETag"] for n in (1, 2, 1)]
    assert tags[0] == tags[2] != tags[1]
