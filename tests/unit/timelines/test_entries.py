"""Entries sort alike as values and packed.

The layout of an author's pack: what goes in comes out, in any order and with repeats.

Steps of a pull: together they are the span, each moment in one of them, the near ones short.
"""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import EPOCH, FIRST, LAST, MAX_SECOND, SEQUENCES, PostId
from timelines.recent.pull_steps import ENDS_S, steps_down, steps_up
from timelines.recent.records import MOST_MS, Arrival, Arrivals, Pack
from timelines.types import (
    ENTRY_BYTES,
    TAIL,
    Entry,
    LiveTimeline,
    TimeRange,
    check_entries,
    reposts_among,
)

post_ids = st.builds(
    PostId, st.integers(0, MAX_SECOND), st.integers(1, MAX_ACCOUNT_ID), st.integers(0, 1295)
)
entries = st.one_of(st.builds(Entry, post_ids, post_ids), st.builds(Entry.of_post, post_ids))


@given(entries)
def test_packing_loses_nothing(entry: Entry) -> None:
    assert len(entry.packed) == 20
    assert Entry.from_packed(entry.packed) == entry


@given(entries, entries)
def test_packed_order_is_page_order(one: Entry, other: Entry) -> None:
    assert (one < other) == (one.packed < other.packed)


@given(st.lists(st.integers(0, 400), max_size=3 * TAIL), st.integers(0, 400))
def test_the_newest_are_the_end_of_all_whatever_the_order_of_arrival(arrived, mark):
    timeline = LiveTimeline.of(
        [Entry.of_post(PostId(s, s % 7, 0)).packed for s in arrived], mark, 1
    )
    newest = timeline.newest_packed
    assert timeline.packed[len(timeline.packed) - len(newest) :] == newest


def test_the_newest_of_entries_in_order_are_the_tail():
    packed = [Entry.of_post(PostId(second, 1, 0)).packed for second in range(450)]
    assert LiveTimeline.of(packed, 0, 1).newest_packed == packed[-TAIL:]


@given(st.lists(entries, max_size=40), st.integers(0, MAX_SECOND))
def test_reposts_are_found_by_what_they_show(arrived: list[Entry], mark: int) -> None:
    timeline = LiveTimeline.of([entry.packed for entry in arrived], mark, 1)
    found = timeline.reposts()
    expected = [e for e in arrived if e.event != e.original and e.event.second >= mark]
    assert sorted(entry for by in found.values() for entry in by) == sorted(expected)
    assert all(entry.original == post for post, by in found.items() for entry in by)


@given(st.lists(entries))
def test_reposts_are_those_that_show_another_post(among: list[Entry]) -> None:
    assert reposts_among(among) == [entry for entry in among if entry.event != entry.original]


_any_id = st.tuples(
    st.integers(0, 2**32 - 1) | st.sampled_from((MAX_SECOND, MAX_SECOND + 1)),
    st.just(7),
    st.integers(0, 2**16 - 1) | st.sampled_from((SEQUENCES - 1, SEQUENCES)),
)


@given(st.lists(st.tuples(_any_id, _any_id), max_size=3))
def test_numbers_beyond_the_limits_are_no_entries(pairs):
    ids = [one for pair in pairs for one in pair]
    data = b"".join(struct.pack(">IIH", *one) for one in ids)
    if all(second <= MAX_SECOND and sequence < SEQUENCES for second, _, sequence in ids):
        assert check_entries(data) is data
    else:
        with pytest.raises(ValueError, match="not packed entries"):
            check_entries(data)


@given(st.integers(0, 3 * ENTRY_BYTES))
def test_a_part_of_an_entry_is_none(size: int) -> None:
    if size % ENTRY_BYTES:
        with pytest.raises(ValueError, match="not packed entries"):
            check_entries(bytes(size))
    else:
        assert check_entries(bytes(size)) == bytes(size)


AUTHORS = [1, 2, 36**6 - 1]
seconds = st.sampled_from([0, 1, 2, 1000, MAX_SECOND])
sequences = st.sampled_from([0, 1, SEQUENCES - 1])
ids = st.builds(PostId, seconds, st.sampled_from(AUTHORS), sequences)
packed_entries = st.builds(lambda event, shown: Entry(event, shown or event), ids, st.none() | ids)
after_ms = st.sampled_from([-500, 0, 1, 2_999, 3_000, 60_000])


def at(entry, after):
    return Arrival(entry, entry.event.posted_at_s * 1000 + after)


arrivals = st.lists(st.builds(at, packed_entries, after_ms), unique_by=lambda one: one.entry.event)


def packs_of(arrivals, complete_from=0):
    return {
        author: Pack.of(
            [a for a in arrivals if a.entry.event.author_id == author], complete_from, 0
        )
        for author in AUTHORS
    }


@given(arrivals, st.tuples(ids, ids).map(sorted), st.integers(1, 5), st.booleans())
def test_entries_inside_a_range_in_page_order(arrivals, bounds, most, newest_first):
    above, below = bounds
    inside = [a.entry for a in arrivals if above < a.entry.event < below]
    expected = sorted(inside, reverse=newest_first)[:most]
    repeated = Arrivals(packs_of([*arrivals, *arrivals]))
    assert repeated.list_entries(TimeRange(above, below), 0, most, newest_first) == expected


@given(arrivals, ids, st.integers(0, 100_000))
def test_late_entries_have_their_last_time(arrivals, cursor, later):
    floor = (EPOCH + 1000) * 1000
    again = [a._replace(visible_ms=a.visible_ms + later) for a in arrivals]
    found = Arrivals(packs_of([*again, *arrivals])).list_late(cursor, floor)
    last = {a.entry: max(a.visible_ms + later, a.entry.event.posted_at_s * 1000) for a in arrivals}
    expected = {e: at for e, at in last.items() if e.event < cursor and at > floor}
    assert dict(found) == expected


@given(arrivals)
def test_a_pack_is_read_as_it_was_written(arrivals):
    packs = packs_of(arrivals, complete_from=7)
    assert {i: Pack.from_packed(pack.packed) for i, pack in packs.items()} == packs
    assert Arrivals(packs).list_events() == {a.entry.event for a in arrivals}


def test_entries_below_the_mark_are_left_out():
    entry = Entry.of_post(PostId(6, 1, 0))
    found = Arrivals(packs_of([at(entry, 0)])).list_entries(TimeRange(FIRST, LAST), 7, 9, True)
    assert found == []


def test_a_post_that_comes_years_later_is_never_earlier_than_it_was():
    entry = Entry.of_post(PostId(5, 1, 0))
    late = at(entry, MOST_MS + 1_001)
    ((found, visible_ms),) = Arrivals(packs_of([late])).list_late(LAST, 0)
    assert found == entry
    assert 0 <= visible_ms - late.visible_ms < 1_000


@pytest.mark.parametrize("data", [b"", b"1234567", b"12345678x", b"x" * 30])
def test_other_data_is_no_pack(data):
    with pytest.raises((ValueError, struct.error)):
        Pack.from_packed(data)


moments = st.integers(0, 10_000_000 * SEQUENCES)
HOUR = 3_600 * SEQUENCES


@given(st.tuples(moments, moments).map(sorted), moments)
def test_downwards_they_are_the_span_newest_first(bounds, now):
    lower, upper = bounds
    steps = steps_down(lower, upper, now)
    assert (steps[-1][0], steps[0][1]) == (lower, upper)
    assert [low for low, _ in steps[:-1]] == [high for _, high in steps[1:]]
    assert all(low < high for low, high in steps) or lower == upper


@given(st.tuples(moments, moments).map(sorted))
def test_upwards_they_are_the_span_oldest_first(bounds):
    lower, upper = bounds
    steps = steps_up(lower, upper)
    assert (steps[0][0], steps[-1][1]) == (lower, upper)
    assert [high for _, high in steps[:-1]] == [low for low, _ in steps[1:]]
    assert all(low < high for low, high in steps) or lower == upper


def test_the_first_is_an_hour_from_now_when_the_span_has_no_end():
    week = 7 * 24 * HOUR
    steps = steps_down(0, 10**15, now=week)
    assert [week - low for low, _ in steps[:-1]] == [end * SEQUENCES for end in ENDS_S]
    assert steps[0] == (week - HOUR, 10**15)


def test_the_first_is_an_hour_from_the_cursor_when_that_is_older():
    assert steps_down(0, 50 * HOUR, now=90 * HOUR)[0] == (49 * HOUR, 50 * HOUR)
    assert steps_up(50 * HOUR, 10**15)[0] == (50 * HOUR, 51 * HOUR)
