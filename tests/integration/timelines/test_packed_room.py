"""The memory of a packed timeline in Redis, and the entries removed when it is full.

Timelines that are cut by age: the entries that the store keeps, and pages below the cut.
"""

import random
import time
from collections.abc import Iterator, Sequence

import pytest
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.remembered import forget_answers
from infra.clock import now_ms
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.timelines.homes import ids_of, newest_first, pulls, read_to_end
from tests.world import drain_all, make_accounts, publish
from timelines.home.page import home_page
from timelines.stores.factory import STORES, timeline_store
from timelines.stores.interface import FollowingChange
from timelines.stores.packed import FAMILY, PackedStore
from timelines.types import Entry, LiveTimeline

READER, FULL = 42, 450
MOST_BYTES = 12_000
# Name, node of the key space, and what an allocator rounds up.
BESIDE_BYTES = 1_400


@pytest.fixture
def store(world: None) -> PackedStore:
    return PackedStore(FULL, 3_600)


def entry(second: int, author: int = 7) -> Entry:
    return Entry.of_post(PostId(second, author, 0))


def build(store: PackedStore, seconds: range, epoch: int = 1) -> None:
    store.begin_build(READER, epoch)
    packed = [entry(second).packed for second in seconds]
    assert store.finish_build(READER, epoch, LiveTimeline.of(packed, seconds[0], 1))


def usage() -> int:
    return int(redis().call("MEMORY", "USAGE", key(FAMILY, READER)))


def live(store: PackedStore) -> LiveTimeline:
    return store.peek([READER])[READER]


def shown(store: PackedStore) -> list[int]:
    return sorted({Entry.from_packed(one).event.second for one in live(store).packed})


@pytest.mark.parametrize("first", [1, 20, FULL - 20, FULL])
def test_a_timeline_never_takes_much_more_than_its_entries(store: PackedStore, first: int) -> None:
    """Grown by single pushes and by crowds from any size, through cuts, steps and repairs."""
    dice, second = random.Random(first), 1_000
    build(store, range(1_000 - first, 1_000))
    for turn in range(600):
        count = 1 if turn % 40 else dice.randrange(1, 80)
        store.push({READER: [entry(second + n, author=turn % 9) for n in range(count)]})
        second += count
        if turn % 60 == 50:
            store.change_following(READER, FollowingChange(1, 1, [entry(second - 5, 11)]))
        if turn % 100 == 80:
            store.change_following(READER, FollowingChange(1, 1, removed_author=turn // 100 % 9))
        if turn % 100 == 90:
            store.remove(READER, live(store), [entry(second - 1, turn % 9)])
        assert usage() <= min(MOST_BYTES, len(live(store).data) * 1.15 + BESIDE_BYTES)
    assert live(store).complete_from > 1_000, "it has never been cut"


def test_old_entries_that_were_missing_cost_no_newer_ones(store: PackedStore) -> None:
    build(store, range(1_000, 1_000 + FULL))
    store.push({READER: [entry(second, author=9) for second in range(1_010, 1_300)]})
    assert shown(store)[-1] == 999 + FULL
    assert len(live(store).packed) > FULL - 3, "all but the second that was cut"
    assert usage() <= MOST_BYTES


def test_many_posts_of_a_new_followee_cost_no_newer_ones(store: PackedStore) -> None:
    build(store, range(1_000, 1_000 + FULL))
    added = [entry(second, author=9) for second in range(1_000, 1_000 + FULL)]
    store.change_following(READER, FollowingChange(1, 2, added, 1_000))
    half = list(range(1_000 + FULL // 2, 1_000 + FULL))
    assert shown(store) == half
    assert live(store).complete_from == half[0]
    assert usage() <= MOST_BYTES


def test_a_build_that_takes_over_a_full_timeline_reaches_as_far_down(store: PackedStore) -> None:
    """Computed entries that were stored before are stored once."""
    build(store, range(1_000, 1_000 + FULL))
    store.push({READER: [entry(1_000 + FULL)]})
    build(store, range(1_001, 1_001 + FULL), epoch=2)
    assert shown(store) == list(range(1_001, 1_001 + FULL))
    assert usage() <= MOST_BYTES


@pytest.mark.parametrize("alive", [range(0), range(20), range(3, 12), range(8, 16), (0, 19)])
def test_push_reaches_those_alive_wherever_they_stand_among_others(
    store: PackedStore, alive: Sequence[int]
) -> None:
    for reader_id in alive:
        store.begin_build(reader_id, 1)
        store.finish_build(reader_id, 1, LiveTimeline.of([], 0, 1))
    assert store.push(dict.fromkeys(range(20), (entry(5),))) == len(alive)
    built = store.peek(range(20))
    assert {one: live.data for one, live in built.items()} == dict.fromkeys(alive, entry(5).packed)
    assert redis().call("DBSIZE") == len(alive)


@pytest.mark.parametrize("live_count", range(9))
def test_a_push_leaves_no_timeline_that_was_not_live(store: PackedStore, live_count: int) -> None:
    """Of a group of eight, from none to all, and one of the next group."""
    readers = range(READER, READER + 9)
    for reader in readers[:live_count]:
        store.begin_build(reader, 1)
        assert store.finish_build(reader, 1, LiveTimeline.of([], 0, 1))
    added = [entry(5)]
    assert store.push(dict.fromkeys(readers, added)) == live_count
    assert list(store.peek(list(readers))) == list(readers[:live_count])
    assert redis().call("EXISTS", *(key(FAMILY, reader) for reader in readers)) == live_count


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
