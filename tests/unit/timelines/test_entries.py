"""Entries sort alike as values and packed."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import MAX_SECOND, SEQUENCES, PostId
from timelines.types import (
    ENTRY_BYTES,
    TAIL,
    Entry,
    LiveTimeline,
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
