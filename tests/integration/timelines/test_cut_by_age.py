"""Timelines that are cut by age: the entries that the store keeps, and pages below the cut."""

import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.api.pages import Window
from infra.caching.remembered import forget_answers
from infra.clock import now_ms
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.timelines.homes import ids_of, newest_first, pulls, read_to_end
from tests.world import drain_all, make_accounts, publish
from timelines.home.page import home_page
from timelines.stores.factory import STORES, timeline_store
from timelines.types import Entry, LiveTimeline

DAY_S = 86_400
KEPT_DAYS = 8
AGES = (20, 12, 9, 7, 5, 3, 1)  # days


class AgedHome:
    """A reader with one followee, who posted once at each of AGES."""

    def __init__(self) -> None:
        self.me, self.ann = make_accounts(2)
        follow(self.me, self.ann)
        now_s = time.time()
        clocks = [lambda age=age: now_s - age * DAY_S for age in AGES]
        self.posts = [publish(self.ann, clock_s=clock) for clock in clocks]
        drain_all()

    def read(self, days_later: float = 0, limit: int = 2) -> list[str]:
        later_ms = now_ms() + int(days_later * DAY_S * 1000)
        return ids_of(home_page(self.me, Window(limit), lambda: later_ms).items)

    def live(self) -> LiveTimeline:
        return timeline_store().peek([self.me])[self.me]

    def stored(self) -> list[PostId]:
        """All events that the store has, below the low-water mark too."""
        return sorted({entry.event for entry in Entry.split(self.live().data)})


@pytest.fixture(params=STORES)
def home(request: pytest.FixtureRequest, world: None, settings: Settings) -> Iterator[AgedHome]:
    settings.TIMELINE_STORE, settings.TIMELINE_DAYS = request.param, KEPT_DAYS
    timeline_store.cache_clear()
    yield AgedHome()
    timeline_store.cache_clear()


def seconds_ago(days: float) -> int:
    return int(time.time() - EPOCH - days * DAY_S)


def test_a_build_keeps_no_old_entries(home: AgedHome) -> None:
    assert home.read() == newest_first(*home.posts[-2:])
    assert home.stored() == home.posts[3:]
    assert home.live().complete_from == pytest.approx(seconds_ago(KEPT_DAYS), abs=60)
    assert read_to_end(home.me, limit=3) == newest_first(*home.posts)


def test_entries_that_grew_old_are_removed_and_pages_do_not_change(home: AgedHome) -> None:
    home.read()
    assert home.read(days_later=0.9) == newest_first(*home.posts[-2:])
    assert home.stored() == home.posts[3:], "less than an eighth of the days"
    assert home.read(days_later=2.5) == newest_first(*home.posts[-2:])
    assert home.stored() == home.posts[4:]
    assert home.live().complete_from == pytest.approx(seconds_ago(KEPT_DAYS - 2.5), abs=60)
    assert read_to_end(home.me, limit=3) == newest_first(*home.posts)


def test_posts_that_come_after_a_cut_are_kept(home: AgedHome) -> None:
    home.read()
    home.read(days_later=2.5)
    newest = publish(home.ann)
    drain_all()
    assert home.read() == newest_first(newest, home.posts[-1])
    assert home.stored() == [*home.posts[4:], newest]


def test_only_one_page_pays_for_a_cut(world: None, settings: Settings) -> None:
    settings.TIMELINE_DAYS = KEPT_DAYS
    home = AgedHome()
    trips = []
    home.read()
    for days in (0, 2.5, 2.5):
        forget_answers()
        with count_calls() as calls:
            home.read(days)
        assert pulls(calls) == []
        trips.append(calls.round_trips)
    assert trips == [trips[0], trips[0] + 2, trips[0]]


def test_without_the_setting_nothing_is_cut(world: None) -> None:
    home = AgedHome()
    home.read()
    home.read(days_later=300)
    assert home.stored() == home.posts
    assert home.live().complete_from == 0


def test_a_store_that_fails_during_the_cut_fails_no_page(
    world: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TIMELINE_DAYS = KEPT_DAYS
    home = AgedHome()
    home.read()

    def refuse(*_: object) -> None:
        raise RedisConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(timeline_store(), "remove", refuse)
        assert home.read(days_later=2.5) == newest_first(*home.posts[-2:])
    assert home.stored() == home.posts[3:], "below the mark, until the next cut"
    assert read_to_end(home.me, limit=3) == newest_first(*home.posts)
    home.read(days_later=4)
    assert home.stored() == home.posts[5:]
