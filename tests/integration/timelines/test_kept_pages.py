"""A home page is kept in process memory, and used again only if it would be the same page."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from pytest_django import Settings

from accounts.actions.update_profile import update_profile
from accounts.queries.in_process import forget_accounts
from accounts.types import ProfileEdit
from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.caching.invalidation_log import LOG
from infra.caching.listener import LISTENER
from infra.caching.questions import RoundTrip
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.cache.by_author import PostCopy
from posts.cache.counts import forget_counts
from posts.cache.in_process import in_process_posts, post_invalidation_command
from posts.ids import PostId
from posts.queries.renewal import Renewal
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.homes import ids_of
from tests.integration.timelines.stars import Fans
from tests.waiting import until
from tests.world import drain_all, forget_memory, make_accounts, publish, rest
from timelines.hot.directory import add_hot_authors, directory
from timelines.hot.entries import hot_entries
from timelines.queries import kept_pages
from timelines.queries.home import home_page
from timelines.queries.likely_page import LikelyPage
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


def test_pages_are_kept_again_soon_after_a_change_of_the_reader(fan: Fan) -> None:
    """The first read after it finds a validator missing, and the second one creates it."""
    fan.look()
    mark_post(fan.me, fan.posts[-1], Kind.BOOKMARK, True)  # no count changes
    drain_all()
    fan.look()
    assert fan.look() is home_page(fan.me, FIRST)


def test_the_next_page_leaves_the_first_one_there(fan: Fan) -> None:
    first = fan.look()
    next_ = Window(FIRST.limit, max_id=first.older)
    assert fan.look(next_) is fan.look(next_)
    assert home_page(fan.me, FIRST) is first


def test_an_account_that_wrote_lately_gets_no_kept_page(
    fan: Fan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is proved that the invalidations of its write have arrived."""
    monkeypatch.setattr(LISTENER, "has_all_since", lambda moment: False)
    fan.look()
    publish(fan.me)
    drain_all()
    publish(fan.me)
    assert home_page(fan.me, FIRST) is not home_page(fan.me, FIRST)
    monkeypatch.setattr(LISTENER, "has_all_since", lambda moment: True)
    until(lambda: home_page(fan.me, FIRST) is home_page(fan.me, FIRST))


ENDS: dict[str, Callable[[Fan], object]] = {
    "names and counts are too old": lambda _: in_process_posts.end_all_entities(),
    "posts are removed": lambda _: in_process_posts.forget_all(),
    "the account of a reposter is removed": lambda _: forget_accounts(),
    "the set of hot authors is removed": lambda _: directory._forget(),
    "a hot author's entries are removed": lambda _: hot_entries._copies.clear(),
}


def confirm_after(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> list[object]:
    """The answers of LikelyPage.confirm, if another thread makes this change just before."""
    answers: list[object] = []
    confirm = LikelyPage.confirm

    def confirm_late(likely: LikelyPage, *asked: Any) -> Page[bytes] | None:
        change()
        answers.append(confirm(likely, *asked))
        return answers[-1]  # type: ignore[return-value]

    monkeypatch.setattr(LikelyPage, "confirm", confirm_late)
    return answers


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_during_the_round_trip_is_not_used(
    fan: Fan, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    add_hot_authors([fan.far])
    follow(fan.me, fan.far)
    drain_all()
    before = fan.look()
    answers = confirm_after(monkeypatch, lambda: ENDS[end](fan))
    assert home_page(fan.me, FIRST) == before
    assert answers == [None]


def test_a_page_that_redis_confirms_needs_nothing_else(
    fan: Fan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fan.look()
    answers = confirm_after(monkeypatch, lambda: None)
    assert home_page(fan.me, FIRST) is before
    assert answers == [before]


def test_news_of_other_posts_leave_the_page(fan: Fan, monkeypatch: pytest.MonkeyPatch) -> None:
    before, other = fan.look(), PostId.at(fan.far, 1)
    redis().run([post_invalidation_command(other, time.time())])
    answers = confirm_after(monkeypatch, lambda: None)
    assert home_page(fan.me, FIRST) is before
    assert answers == [before], "what the log names has been dropped before"


@pytest.fixture
def hot(fans: Fans, monkeypatch: pytest.MonkeyPatch) -> Fans:
    """The star is hot, and its entries in process memory last."""
    monkeypatch.setattr("timelines.hot.entries.COPY_S", 60.0)
    fans.heat()
    fans.post()
    drain_all()
    rest()
    return fans


def test_new_entries_of_a_hot_author_end_the_page(hot: Fans) -> None:
    home_page(hot.me, FIRST)
    before = home_page(hot.me, FIRST)
    assert home_page(hot.me, FIRST) is before
    hot.post()
    drain_all()
    hot_entries.load([hot.star], time.monotonic())
    assert ids_of(home_page(hot.me, FIRST).items) == hot.expected()


def test_a_kept_page_reads_old_copies_of_a_hot_author_again(
    hot: Fans, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):  # the first one builds the entries in Redis
        hot_entries._copies.clear()
        before = home_page(hot.me, FIRST)
    answers = confirm_after(monkeypatch, lambda: None)
    hot_entries._copies.clear()
    with count_calls() as calls:
        assert home_page(hot.me, FIRST) is before
    assert (calls.statements, calls.round_trips, answers) == ([], 1, [before])
    hot.post()
    drain_all()
    hot_entries._copies.clear()
    assert ids_of(home_page(hot.me, FIRST).items) == hot.expected()


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many posts each Renewal asked for."""
    asked: list[int] = []

    class CountedRenewal(Renewal):
        def __init__(self, trip: RoundTrip, copies: Mapping[PostId, PostCopy], *rest: Any) -> None:
            asked.append(len(copies))
            super().__init__(trip, copies, *rest)

    monkeypatch.setattr("timelines.queries.first_trip.Renewal", CountedRenewal)
    return asked


def test_names_and_counts_are_renewed_in_the_first_round_trip(fan: Fan, renewed: list[int]) -> None:
    kept = fan.look()
    in_process_posts.end_entities([fan.posts[-1]])
    with count_calls() as calls:
        assert home_page(fan.me, FIRST) is kept
    assert (calls.statements, calls.round_trips, renewed) == ([], 1, [1])


def test_posts_that_end_soon_are_renewed_with_those_that_ended(
    fan: Fan, renewed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = fan.look()
    in_process_posts.end_entities([fan.posts[-1]])
    monkeypatch.setattr("posts.cache.in_process.SOON_SHARE", 1.0)
    assert home_page(fan.me, FIRST) is kept
    assert renewed[0] >= len(kept.items)


def test_a_renewed_post_has_its_new_counts(fan: Fan, renewed: list[int]) -> None:
    kept, post = fan.look(), fan.posts[-1]
    mark_post(fan.other, post, Kind.FAVOURITE, True)
    drain_all()
    forget_counts()
    after = home_page(fan.me, FIRST)
    assert after != kept
    assert renewed
    forget_memory()
    assert after == home_page(fan.me, FIRST)


def test_posts_that_memory_has_lost_are_loaded_again(fan: Fan, renewed: list[int]) -> None:
    before = fan.look()
    in_process_posts.forget_all()
    assert home_page(fan.me, FIRST) == before
    assert renewed == []


def test_a_deleted_post_is_not_renewed(fan: Fan, renewed: list[int]) -> None:
    """The log names it in the round trip of the renewal. Here its counts have ended, too."""
    fan.look()
    gone = fan.posts[-1]
    delete_post(gone)
    forget_counts()
    assert gone.public not in ids_of(home_page(fan.me, FIRST).items)
    assert in_process_posts.find_finished([gone], LOG.read()) == {}


def test_headers_are_those_of_the_request(fan: Fan) -> None:
    fan.look()
    client = Caller(fan.me).client
    for text in ("one", "two", "one"):
        answer = client.get(f"/api/v1/timelines/home?limit=5&other={text}")
        assert f"limit=5&other={text}&" in answer["Link"]
    tags = [client.get(f"/api/v1/timelines/home?limit=5&other={n}")["ETag"] for n in (1, 2, 1)]
    assert tags[0] == tags[2] != tags[1]
