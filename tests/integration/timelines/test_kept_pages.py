"""A home page is kept in process memory, and used again only if it would be the same page."""

import time
from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

from accounts.actions.update_profile import update_profile
from accounts.queries.in_process import forget_accounts
from accounts.types import ProfileEdit
from infra.api.pages import Page, Window
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.cache.counts import forget_counts
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.integration.timelines.homes import ids_of
from tests.world import drain_all, forget_memory, make_accounts, publish, rest
from timelines.queries import kept_pages
from timelines.queries.home import home_page
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
        """Twice: the first read finishes the entities that the second one makes its page of."""
        rest()
        home_page(self.me, window)
        return home_page(self.me, window)


@pytest.fixture
def fan(world: None) -> Iterator[Fan]:
    kept_pages._pages.clear()
    yield Fan()
    kept_pages._pages.clear()


def test_the_same_page_is_used_again(fan: Fan) -> None:
    assert fan.look() is fan.look()


def test_each_window_has_its_own_page(fan: Fan) -> None:
    first = fan.look()
    second = fan.look(Window(5, max_id=first.older))
    assert not set(ids_of(first.items)) & set(ids_of(second.items))
    assert fan.look() == first
    assert len(fan.look(Window(2)).items) == 2


def rename(account: int) -> None:
    update_profile(account, ProfileEdit(display_name="New"))


CHANGES: dict[str, Callable[[Fan], object]] = {
    "a new post": lambda fan: (publish(fan.silent, clock_s=later), drain_all()),
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
        forget_memory(),
    ),
    "the timeline was dropped, and a post is gone": lambda fan: (
        timeline_store().drop(fan.me),
        delete_post(fan.posts[-1]),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_at_the_next_read(fan: Fan, change: str) -> None:
    before = fan.look()
    assert fan.look() is before
    CHANGES[change](fan)
    rest()
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


def test_names_and_counts_that_are_asked_again_and_are_the_same_leave_the_page(fan: Fan) -> None:
    kept = fan.look()
    forget_accounts()
    forget_counts()
    assert home_page(fan.me, FIRST) is kept


def test_a_page_without_an_author_who_is_muted_for_good_is_kept(fan: Fan) -> None:
    mute(fan.me, fan.other)
    assert fan.look() is fan.look()


def test_a_page_without_an_author_who_is_muted_for_a_time_is_not_kept(fan: Fan) -> None:
    """The mute ends by the clock, and nothing else changes then."""
    mute(fan.me, fan.other, duration_s=60)
    assert fan.look() is not fan.look()


def test_a_page_that_needs_older_posts_than_the_timeline_has_is_not_kept(
    tiny_timelines: None, fan: Fan
) -> None:
    """They come from the shards. The timeline says nothing about their changes."""
    whole = Window(20)
    assert len(fan.look(whole).items) == len(fan.posts) + 2
    assert fan.look(whole) is not fan.look(whole)


def test_an_account_that_wrote_lately_gets_no_kept_page(fan: Fan) -> None:
    fan.look()
    publish(fan.me)
    drain_all()
    publish(fan.me)
    assert home_page(fan.me, FIRST) is not home_page(fan.me, FIRST)
