"""The layout of an author's pack: what goes in comes out, in any order and with repeats."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.ids import EPOCH, FIRST, LAST, MAX_SECOND, SEQUENCES, PostId
from timelines.recent.records import MOST_MS, Arrival, Arrivals, Pack
from timelines.types import Entry, TimeRange

AUTHORS = [1, 2, 36**6 - 1]
seconds = st.sampled_from([0, 1, 2, 1000, MAX_SECOND])
sequences = st.sampled_from([0, 1, SEQUENCES - 1])
ids = st.builds(PostId, seconds, st.sampled_from(AUTHORS), sequences)
entries = st.builds(lambda event, shown: Entry(event, shown or event), ids, st.none() | ids)
after_ms = st.sampled_from([-500, 0, 1, 2_999, 3_000, 60_000])


def at(entry, after):
    return Arrival(entry, entry.event.posted_at_s * 1000 + after)


arrivals = st.lists(st.builds(at, entries, after_ms), unique_by=lambda one: one.entry.event)


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
