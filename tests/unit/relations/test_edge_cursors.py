"""Cursors of edge lists: decoding restores them, and their order is that of the list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.errors import InvalidCursor
from infra.api.ids import MAX_ACCOUNT_ID, MOST_DIGITS
from relations.cache import account_id_of_member, member_of
from relations.queries.edge_lists import decode_cursor, encode_cursor
from relations.types import ListedAccount

LAST_MS = 36**9 - 1  # of the year 5188
accounts = st.integers(1, MAX_ACCOUNT_ID) | st.sampled_from([1, 9, 10, 2**31, MAX_ACCOUNT_ID])
listed = st.builds(
    ListedAccount, st.integers(0, LAST_MS) | st.sampled_from([0, 1, LAST_MS]), accounts
)


@given(listed)
def test_cursor_comes_back_as_it_was(item):
    assert decode_cursor(encode_cursor(item)) == item


@given(listed, listed)
def test_cursors_sort_as_the_list_does(one, other):
    assert (one < other) == (encode_cursor(one) < encode_cursor(other))


@given(accounts, accounts)
def test_members_of_the_cache_sort_as_their_numbers_do(one, other):
    assert account_id_of_member(member_of(one)) == one
    assert (one < other) == (member_of(one) < member_of(other))


@given(listed)
def test_numbers_are_cursors_too(item):
    number = int(encode_cursor(item), 36)
    assert decode_cursor(f"{number:030d}") == item
    assert decode_cursor(str(36**15)) == (LAST_MS, MAX_ACCOUNT_ID)
    assert decode_cursor("1") == (0, 1)


def test_no_cursor_is_no_bound():
    assert decode_cursor(None) is None


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "0" * 13 + "x",
        "9" * (MOST_DIGITS + 1),
        "00000000000000Z",
        "+00000000000000",
        "00000000 000000",
        "000_00000000000",
        "00000000000000٣",
        "\x00" * 15,
        "\ud800" * 15,
        "'; DROP TABLE x",
    ],
)
def test_foreign_text_is_no_cursor(text):
    with pytest.raises(InvalidCursor):
        decode_cursor(text)
