"""The packed store: who is pushed to, what a build keeps, how a string is cut, what a step does."""

import random

import pytest

from infra.caching.client import redis
from posts.ids import PostId
from timelines.stores.interface import FollowingChange
from timelines.stores.packed import PackedStore
from timelines.types import Entry, LiveTimeline

READER = 42
LIVE_S = 60


def entry(second: int, author: int = 7) -> Entry:
    return Entry.of_post(PostId(second, author, 0))


@pytest.fixture
def store(world: None) -> PackedStore:
    return PackedStore(max_entries=10, live_s=LIVE_S)


def read(store: PackedStore) -> LiveTimeline | None:
    return store.load(READER, redis().run(store.read_commands(READER)))


def seconds(store: PackedStore) -> list[int]:
    timeline = read(store)
    assert timeline is not None
    return [Entry.from_packed(packed).event.second for packed in timeline.packed]


def lay(store: PackedStore, *at: int, complete_from: int = 0, version: int = 1) -> None:
    store.begin_build(READER, 99)
    packed = [entry(second).packed for second in at]
    assert store.lay(READER, 99, LiveTimeline.of(packed, complete_from, version))


def test_a_timeline_that_is_not_live_is_not_pushed_to(store: PackedStore) -> None:
    assert store.push({READER: [entry(5)]}) == 0
    assert read(store) is None


def test_what_is_pushed_while_building_is_there_after(store: PackedStore) -> None:
    store.begin_build(READER, 1)
    assert store.push({READER: [entry(5)]}) == 1
    assert read(store) is None, "half a timeline must not be readable"
    assert store.lay(READER, 1, LiveTimeline.of([entry(3).packed], 2, 8))
    assert seconds(store) == [3, 5]
    assert read(store) == LiveTimeline.of([entry(3).packed, entry(5).packed], 2, 8)


def test_a_build_that_was_taken_over_is_not_laid(store: PackedStore) -> None:
    store.begin_build(READER, 1)
    store.push({READER: [entry(5)]})
    store.begin_build(READER, 2)
    assert not store.lay(READER, 1, LiveTimeline.of([], 0, 1))
    assert store.lay(READER, 2, LiveTimeline.of([], 0, 1))
    assert seconds(store) == [5], "the second build keeps what was pushed to the first"


def test_a_build_whose_key_was_lost_is_not_laid(store: PackedStore) -> None:
    store.begin_build(READER, 1)
    redis().call("FLUSHDB")
    assert not store.lay(READER, 1, LiveTimeline.of([], 0, 1))


def test_reading_keeps_it_alive_and_pushing_does_not(store: PackedStore) -> None:
    lay(store, 1)
    key = b"timelines.home:v1:{42}"
    redis().call("PEXPIRE", key, 5_000)
    store.push({READER: [entry(2)]})
    assert redis().call("PTTL", key) <= 5_000
    read(store)
    assert redis().call("PTTL", key) > 5_000


def test_entries_below_the_mark_are_not_shown(store: PackedStore) -> None:
    lay(store, 5, 6, 7, complete_from=6)
    assert seconds(store) == [6, 7]


@pytest.mark.parametrize("seed", range(20))
def test_a_string_cut_in_half_is_complete_above_its_mark(store: PackedStore, seed: int) -> None:
    """Entries arrive in any order; whatever is at or above the mark must be there."""
    order = list(range(1, 101))
    random.Random(seed).shuffle(order)
    lay(store)
    for second in order:
        store.push({READER: [entry(second)]})
    timeline = read(store)
    assert timeline is not None
    assert timeline.complete_from > 0, "it has never been cut"
    assert seconds(store) == list(range(timeline.complete_from, 101))
    assert redis().call("STRLEN", b"timelines.home:v1:{42}") <= 20 + 2 * 10 * 20


def test_many_readers_at_once(store: PackedStore) -> None:
    for reader in range(1, 601):
        store.begin_build(reader, reader)
        store.lay(reader, reader, LiveTimeline.of([], 0, 1))
    assert store.push({reader: [entry(reader)] for reader in range(1, 701)}) == 600
    timeline = store.load(600, redis().run(store.read_commands(600)))
    assert timeline is not None
    assert timeline.packed == [entry(600).packed]


def test_a_step_adds_the_new_followee(store: PackedStore) -> None:
    lay(store, 5, version=3)
    store.change_following(READER, FollowingChange(3, 4, added=[entry(4, author=9)]))
    assert read(store) == LiveTimeline.of([entry(5).packed, entry(4, 9).packed], 0, 4)


def test_a_step_takes_out_an_ended_followee(store: PackedStore) -> None:
    lay(store, 5, version=3)
    store.push({READER: [entry(6, author=9)]})
    store.change_following(READER, FollowingChange(3, 4, removed_author=7))
    assert read(store) == LiveTimeline.of([entry(6, 9).packed], 0, 4)


def test_a_step_may_raise_the_mark_and_never_lowers_it(store: PackedStore) -> None:
    lay(store, 5, complete_from=3)
    store.change_following(READER, FollowingChange(1, 2, added=[entry(9)], complete_from=6))
    assert seconds(store) == [9]
    store.change_following(READER, FollowingChange(2, 3, added=[entry(8)], complete_from=0))
    assert seconds(store) == [8, 9]


def test_a_timeline_that_missed_a_step_is_dropped(store: PackedStore) -> None:
    lay(store, 5, version=3)
    store.change_following(READER, FollowingChange(4, 5))
    assert read(store) is None


def test_a_step_that_comes_again_adds_what_it_brings_now(store: PackedStore) -> None:
    """The first time is before the backward edge is written; posts in between come the second."""
    lay(store, version=3)
    store.change_following(READER, FollowingChange(3, 4, added=[entry(5)]))
    store.change_following(READER, FollowingChange(4, 5))
    store.change_following(READER, FollowingChange(3, 4, added=[entry(5), entry(6)]))
    timeline = read(store)
    assert timeline is not None
    assert timeline.following_version == 5
    assert sorted(set(timeline.packed)) == [entry(5).packed, entry(6).packed]


def test_a_step_during_a_build_keeps_its_entries(store: PackedStore) -> None:
    store.begin_build(READER, 1)
    store.change_following(READER, FollowingChange(7, 8, added=[entry(5)]))
    assert store.lay(READER, 1, LiveTimeline.of([], 0, 8))
    assert seconds(store) == [5]


def test_how_far_down_it_reaches(store: PackedStore) -> None:
    assert store.find_complete_from(READER) is None
    store.begin_build(READER, 1)
    assert store.find_complete_from(READER) == 0, "a build may end anywhere: bring all there is"
    store.lay(READER, 1, LiveTimeline.of([], 77, 1))
    assert store.find_complete_from(READER) == 77


def test_a_peek_has_what_can_be_read_and_keeps_nothing_alive(store: PackedStore) -> None:
    lay(store, 5, complete_from=3, version=8)
    store.begin_build(READER + 1, 1)
    redis().call("PEXPIRE", b"timelines.home:v1:{42}", 5_000)
    found = store.peek([READER, READER + 1, READER + 2])
    assert found == {READER: LiveTimeline.of([entry(5).packed], 3, 8)}
    assert redis().call("PTTL", b"timelines.home:v1:{42}") <= 5_000
    assert store.peek([]) == {}


def test_what_is_taken_out_goes_with_its_repeats_and_the_rest_stays(store: PackedStore) -> None:
    lay(store, 4, 5, 6, complete_from=3, version=8)
    store.push({READER: [entry(5)]})
    redis().call("PEXPIRE", b"timelines.home:v1:{42}", 5_000)
    seen = store.peek([READER])[READER]
    store.push({READER: [entry(7)]})
    assert store.take_out(READER, seen, [entry(5), entry(1)])
    assert store.peek([READER])[READER] == seen._replace(
        data=b"".join(entry(second).packed for second in (4, 6, 7))
    )
    assert 0 < redis().call("PTTL", b"timelines.home:v1:{42}") <= 5_000
    assert store.lay(READER, 99, LiveTimeline.of([], 0, 1)), "it is the same build's"


@pytest.mark.parametrize("now", [{"complete_from": 2}, {"version": 9}])
def test_nothing_is_taken_out_of_a_timeline_that_is_another_now(
    store: PackedStore, now: dict[str, int]
) -> None:
    """Built anew it may reach further down, and whom the reader did not follow they may now."""
    lay(store, 4, 5, complete_from=3, version=8)
    seen = store.peek([READER])[READER]
    lay(store, 4, 5, **({"complete_from": 3, "version": 8} | now))
    before = store.peek([READER])
    assert not store.take_out(READER, seen, [entry(5)])
    assert store.peek([READER]) == before
    store.drop(READER)
    assert not store.take_out(READER, seen, [entry(5)])
    assert store.peek([READER]) == {}
