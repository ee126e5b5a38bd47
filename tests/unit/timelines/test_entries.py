"""Entries sort alike as values and packed."""

from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import MAX_SECOND, PostId
from timelines.types import Entry

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
