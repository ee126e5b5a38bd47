"""Every store: pushes, builds, steps of the following list, removals and cuts."""

import random
from itertools import count

import pytest
from django.db import OperationalError

from posts.ids import PostId
from tests.integration.timelines.stores import KINDS, MOST, Kind, entries, read
from timelines.stores import postgres
from timelines.stores.interface import FollowingChange, TimelineStore
from timelines.types import Entry, LiveTimeline

READER = 42
EPOCHS = count(99)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(world: None, request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def store(kind: Kind) -> TimelineStore:
    return kind.make()


def entry(second: int, author: int = 7) -> Entry:
    return Entry.of_post(PostId(second, author, 0))


def repost(second: int, author: int = 7, of: int = 9) -> Entry:
    return Entry(PostId(second, author, 3), PostId(1, of, 35))


def seconds(store: TimelineStore) -> list[int]:
    return [Entry.from_packed(one).event.second for one in entries(read(store, READER)) or ()]


def found(store: TimelineStore) -> tuple[list[Entry], int, int] | None:
    """Entries in order, mark and version."""
    timeline = read(store, READER)
    if timeline is None:
        return None
    ordered = [Entry.from_packed(one) for one in entries(timeline) or ()]
    return ordered, timeline.complete_from, timeline.following_version


def build(store: TimelineStore, *at: int, complete_from: int = 0, version: int = 1) -> int:
    """Returns the epoch, which is another one each time."""
    epoch = next(EPOCHS)
    store.begin_build(READER, epoch)
    packed = [entry(second).packed for second in at]
    assert store.finish_build(READER, epoch, LiveTimeline.of(packed, complete_from, version))
    return epoch


def test_a_timeline_that_is_not_live_is_not_pushed_to(store: TimelineStore) -> None:
    assert store.push({READER: [entry(5)]}) == 0
    assert read(store, READER) is None


def test_entries_come_back_as_they_were_in_page_order(store: TimelineStore) -> None:
    """Ties by author, then by sequence; a repost with what it shows."""
    same = [Entry.of_post(PostId(5, author, n)) for author in (3, 35, 36, 1_295) for n in (9, 36)]
    ordered = [*same, repost(6), repost(6, of=36**6 - 1), entry(36**6 - 1)]
    ordered[-2] = Entry(PostId(6, 8, 0), PostId(0, 36**6 - 1, 1_295))
    build(store)
    for one in random.Random(1).sample(ordered, len(ordered)):
        store.push({READER: [one]})
    assert found(store) == (ordered, 0, 1)


def test_what_is_pushed_while_building_is_there_after(store: TimelineStore) -> None:
    store.begin_build(READER, 2**64 - 1)
    assert store.push({READER: [entry(5), repost(6)]}) == 1
    assert read(store, READER) is None, "half a timeline must not be readable"
    assert store.finish_build(
        READER, 2**64 - 1, LiveTimeline.of([entry(3).packed, entry(5).packed], 2, 8)
    )
    assert found(store) == ([entry(3), entry(5), repost(6)], 2, 8)


def test_a_build_that_was_taken_over_is_not_laid(kind: Kind, store: TimelineStore) -> None:
    """The second build may keep what was pushed to the first. It also finds that in the index."""
    store.begin_build(READER, 1)
    store.push({READER: [entry(5)]})
    store.begin_build(READER, 2)
    assert not store.finish_build(READER, 1, LiveTimeline.of([], 0, 1))
    assert store.finish_build(READER, 2, LiveTimeline.of([], 0, 1))
    assert seconds(store) == ([] if kind.name == "cassandra" else [5])


def test_a_build_that_was_lost_is_not_laid(kind: Kind, store: TimelineStore) -> None:
    store.begin_build(READER, 1)
    kind.lose()
    assert not store.finish_build(READER, 1, LiveTimeline.of([], 0, 1))
    assert read(store, READER) is None


def test_reading_keeps_it_alive_and_pushing_does_not(kind: Kind, store: TimelineStore) -> None:
    build(store, 1)
    most = 60 if kind.name == "tiered" else 14
    kind.age(READER, most - 1)
    assert read(store, READER) is not None
    kind.age(READER, most - 1)
    assert store.push({READER: [entry(2)]}) == 1
    store.peek([READER])
    kind.age(READER, 4)
    assert store.push({READER: [entry(3)]}) == 0
    assert read(store, READER) is None


def test_entries_below_the_mark_are_not_shown(store: TimelineStore) -> None:
    build(store, 5, 6, 7, complete_from=6)
    assert seconds(store) == [6, 7]


@pytest.mark.parametrize("seed", range(4))
def test_a_timeline_that_was_cut_is_complete_above_its_mark(
    store: TimelineStore, seed: int
) -> None:
    """Entries arrive in any order; all at or above the low-water mark must be there."""
    order = list(range(1, 101))
    random.Random(seed).shuffle(order)
    build(store)
    for second in order:
        store.push({READER: [entry(second)]})
        if second % 7 == 0:
            timeline = read(store, READER)
            assert timeline is not None
            arrived = order[: order.index(second) + 1]
            assert seconds(store) == sorted(s for s in arrived if s >= timeline.complete_from)
            assert len(timeline.packed) <= 2 * MOST
    assert timeline.complete_from > 0, "it has never been cut"


def test_many_readers_at_once(store: TimelineStore) -> None:
    """Readers on all shards, with common entries and with their own."""
    for reader in range(1, 21):
        store.begin_build(reader, reader)
        store.finish_build(reader, reader, LiveTimeline.of([], 0, 1))
    assert store.push({reader: [entry(reader)] for reader in range(1, 31)}) == 20
    assert store.push(dict.fromkeys(range(1, 301), (entry(40), entry(41)))) == 20
    for reader in range(1, 21):
        expected = [entry(reader).packed, entry(40).packed, entry(41).packed]
        assert entries(read(store, reader)) == expected
    assert store.push({}) == 0


def test_a_push_that_comes_again_changes_nothing(store: TimelineStore) -> None:
    build(store, 3)
    for _ in range(2):
        assert store.push({READER: [entry(5), repost(4)]}) == 1
    assert found(store) == ([entry(3), repost(4), entry(5)], 0, 1)


def test_a_step_adds_the_new_followee(store: TimelineStore) -> None:
    build(store, 5, version=3)
    store.change_following(READER, FollowingChange(3, 4, added=[entry(4, author=9), repost(6)]))
    assert found(store) == ([entry(4, 9), entry(5), repost(6)], 0, 4)


def test_a_step_takes_out_an_ended_followee(store: TimelineStore) -> None:
    build(store, 5, version=3)
    store.push({READER: [entry(6, author=9), repost(6), repost(7, author=8)]})
    store.change_following(READER, FollowingChange(3, 4, removed_author=7))
    assert found(store) == ([entry(6, 9), repost(7, author=8)], 0, 4)


def test_a_step_may_raise_the_mark_and_never_lowers_it(store: TimelineStore) -> None:
    build(store, 5, complete_from=3)
    store.change_following(READER, FollowingChange(1, 2, added=[entry(9)], complete_from=6))
    assert seconds(store) == [9]
    store.change_following(READER, FollowingChange(2, 3, added=[entry(8)], complete_from=0))
    assert seconds(store) == [8, 9]


def test_a_timeline_that_missed_a_step_is_dropped(store: TimelineStore) -> None:
    build(store, 5, version=3)
    store.change_following(READER, FollowingChange(4, 5))
    assert read(store, READER) is None


def test_a_step_that_comes_again_adds_what_it_brings_now(store: TimelineStore) -> None:
    """The first time is before the backward edge is written; posts in between come the second."""
    build(store, version=3)
    store.change_following(READER, FollowingChange(3, 4, added=[entry(5)]))
    store.change_following(READER, FollowingChange(4, 5))
    store.change_following(READER, FollowingChange(3, 4, added=[entry(5), entry(6)]))
    assert found(store) == ([entry(5), entry(6)], 0, 5)


@pytest.mark.parametrize("removed", [None, 7])
def test_a_step_that_may_be_undone_changes_nothing(
    store: TimelineStore, removed: int | None
) -> None:
    """It was read at version 4, and the timeline reflects version 5."""
    build(store, 5, version=5)
    step = FollowingChange(3, 4, [entry(6)], 6, removed_author=removed, read_at=4)
    assert not store.change_following(READER, step)
    assert found(store) == ([entry(5)], 0, 5)
    assert store.change_following(READER, step._replace(read_at=5))
    assert seconds(store) == [6]


def test_a_step_during_a_build_keeps_its_entries(store: TimelineStore) -> None:
    store.begin_build(READER, 1)
    store.change_following(READER, FollowingChange(7, 8, added=[entry(5)]))
    assert store.finish_build(READER, 1, LiveTimeline.of([], 0, 8))
    assert seconds(store) == [5]


def test_a_step_of_nobody_live_makes_nobody_live(store: TimelineStore) -> None:
    store.change_following(READER, FollowingChange(7, 8, added=[entry(5)]))
    assert store.find_complete_from(READER) is None
    assert store.push({READER: [entry(5)]}) == 0


def test_how_far_down_it_reaches(store: TimelineStore) -> None:
    assert store.find_complete_from(READER) is None
    store.begin_build(READER, 1)
    assert store.find_complete_from(READER) == 0, "a build may end anywhere: bring all there is"
    store.finish_build(READER, 1, LiveTimeline.of([], 77, 1))
    assert store.find_complete_from(READER) == 77


def test_what_is_dropped_is_gone(store: TimelineStore) -> None:
    build(store, 5)
    store.drop(READER)
    assert read(store, READER) is None
    assert store.push({READER: [entry(6)]}) == 0
    build(store, 7)
    assert seconds(store) == [7]


def test_a_peek_has_what_can_be_read(store: TimelineStore) -> None:
    build(store, 5, complete_from=3, version=8)
    store.begin_build(READER + 1, 1)
    assert store.peek([READER, READER + 1, READER + 2]) == {
        READER: LiveTimeline.of([entry(5).packed], 3, 8)
    }
    assert store.peek([]) == {}


def test_what_is_taken_out_goes_with_its_repeats_and_the_rest_stays(store: TimelineStore) -> None:
    epoch = build(store, 4, 5, 6, complete_from=3, version=8)
    store.push({READER: [entry(5), repost(6)]})
    seen = store.peek([READER])[READER]
    store.push({READER: [entry(7), repost(8)]})
    assert store.remove(READER, seen, [entry(5), entry(1), repost(6)])
    assert found(store) == ([entry(4), entry(6), entry(7), repost(8)], 3, 8)
    assert store.finish_build(READER, epoch, LiveTimeline.of([], 0, 1)), "it is the same build's"


@pytest.mark.parametrize("now", [{"complete_from": 2}, {"version": 9}])
def test_nothing_is_taken_out_of_a_timeline_that_is_another_now(
    store: TimelineStore, now: dict[str, int]
) -> None:
    """A rebuilt timeline may reach further down, and the reader may follow other authors."""
    build(store, 4, 5, complete_from=3, version=8)
    seen = store.peek([READER])[READER]
    build(store, 4, 5, **({"complete_from": 3, "version": 8} | now))
    before = found(store)
    assert not store.remove(READER, seen, [entry(5)])
    assert found(store) == before
    store.drop(READER)
    assert not store.remove(READER, seen, [entry(5)])
    assert store.peek([READER]) == {}


def test_a_build_that_is_pushed_more_than_it_holds_misses_nothing(store: TimelineStore) -> None:
    """The build may have no effect, but it must not end without the pushed entries."""
    store.begin_build(READER, 1)
    for second in range(1, 60):
        store.push({READER: [entry(second)]})
    is_finished = store.finish_build(READER, 1, LiveTimeline.of([], 0, 1))
    timeline = read(store, READER)
    assert timeline is not None or not is_finished
    if timeline is not None:
        assert seconds(store) == list(range(max(1, timeline.complete_from), 60))


@pytest.mark.parametrize("name", ["postgres", "tiered"])
def test_a_shard_that_is_away_keeps_no_other_readers_waiting(
    world: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = next(kind for kind in KINDS if kind.name == name).make()
    for reader in range(1, 5):
        store.begin_build(reader, 1)
        store.finish_build(reader, 1, LiveTimeline.of([], 0, 1))
    with monkeypatch.context() as broken:
        ask = postgres.fetch_one

        def fail(alias: str, *statement: object) -> object:
            if alias == postgres.shard_of(1):
                raise OperationalError("away")
            return ask(alias, *statement)  # type: ignore[arg-type]

        broken.setattr(postgres, "fetch_one", fail)
        with pytest.raises(OperationalError):
            store.push(dict.fromkeys(range(1, 5), (entry(9),)))
    for reader in range(2, 5):
        assert entries(read(store, reader)) == [entry(9).packed]
    assert store.push(dict.fromkeys(range(1, 5), (entry(9),))) == 4
    assert entries(read(store, 1)) == [entry(9).packed]


@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("is_building", [False, True])
def test_a_rebuild_after_the_loss_of_one_key_gives_the_whole_timeline(
    kind: Kind, store: TimelineStore, nth: int, is_building: bool
) -> None:
    """A repost must not come back as a post: its fragment alone is no JSON."""
    build(store, 3)
    store.push({READER: [repost(5), repost(6)]})
    if is_building:
        store.begin_build(READER, 1)
    kind.evict(READER, nth)
    store.push({READER: [repost(7)]})
    computed = [entry(3), repost(5), repost(6), repost(7)]
    store.begin_build(READER, 2)
    timeline = LiveTimeline.of([one.packed for one in computed], 0, 2)
    assert store.finish_build(READER, 2, timeline)
    assert found(store) == (computed, 0, 2)
