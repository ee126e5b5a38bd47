"""Entries sort alike as values and packed."""

from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import MAX_SECOND, PostId
from timelines.types import TAIL, Entry, LiveTimeline, reposts_among

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
