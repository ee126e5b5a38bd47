"""Relationships as values: packed and unpacked, and never a follow together with a block.

Cursors of edge lists: decoding restores them, and their order is that of the list.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.errors import InvalidCursor
from infra.api.ids import MAX_ACCOUNT_ID, MOST_DIGITS
from relations.cache import account_id_of_member, member_of
from relations.queries.edge_lists import decode_cursor, encode_cursor
from relations.types import (
    FOLLOWS,
    NOTIFYING_FLAGS,
    UNRELATED,
    Attribute,
    EdgeFlag,
    ListedAccount,
    Relationship,
)

NONE, FOLLOW, WHISPER, BLACK, *_ = Attribute
relationships = st.builds(
    Relationship,
    st.sampled_from(Attribute),
    st.integers(0, 7).map(EdgeFlag),
    st.sampled_from(Attribute),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**42),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(["en", "de", "pt-BR"]), unique=True).map(tuple),
)


def test_the_example_is_as_written():
    example = Relationship(WHISPER, EdgeFlag.SPECIAL, FOLLOW, is_muted=True)
    assert example.packed == b"1162."
    assert Relationship.from_packed(b"1162.") == example
    assert UNRELATED.packed == b"0."
    apart = Relationship(FOLLOW, is_exclusive=True, languages=("en", "pt-BR"))
    assert apart.packed == b"1:!en,pt-BR."
    assert Relationship.from_packed(b"1:!en,pt-BR.") == apart


@pytest.mark.parametrize("text", [b"", b"1", b"1:.", b":!.", b"x.", b"1:!"])
def test_what_lost_a_part_is_no_relationship(text):
    with pytest.raises(ValueError, match="packed"):
        Relationship.from_packed(text)


@given(relationships)
def test_what_is_packed_comes_back(relationship):
    assert Relationship.from_packed(relationship.packed) == relationship


@pytest.mark.parametrize("mine", Attribute)
@pytest.mark.parametrize("theirs", Attribute)
def test_no_follow_shows_beside_a_block(mine, theirs):
    relationship = Relationship.of_rows(mine, EdgeFlag.SPECIAL, theirs, False, False, 0)
    is_blocked = BLACK in (relationship.mine, relationship.theirs)
    assert not (is_blocked and (relationship.is_followed or relationship.follows_me))
    assert is_blocked == (BLACK in (mine, theirs))
    if not is_blocked:
        assert relationship[:3] == (mine, EdgeFlag.SPECIAL, theirs)
    assert relationship.is_followed or not relationship.flags or mine not in FOLLOWS


def test_a_mute_holds_until_its_end():
    assert Relationship(is_muted=True).is_muted_at(10**15)
    for_a_while = Relationship(is_muted=True, muted_until_ms=1_000)
    assert for_a_while.is_muted_at(999)
    assert not for_a_while.is_muted_at(1_000)
    assert not UNRELATED.is_muted_at(0)


def test_a_note_is_kept_without_any_edge():
    assert Relationship.of_rows(0, 0, 0, False, False, 0, has_note=True).packed == b"%d." % (
        1 << 12
    )


def test_nothing_is_left_of_a_mute_that_was_ended():
    assert Relationship.of_rows(0, 0, 0, False, True, 5_000) == UNRELATED
    assert Relationship.of_rows(0, 0, 0, True, True, 5_000) == Relationship(
        is_muted=True, mutes_notices=True, muted_until_ms=5_000
    )


def test_equal_rows_are_one_object():
    """A process keeps relationships of many viewers, and nearly all are one of a few values."""
    first, other = (Relationship.of_rows(1, 0, 1, False, False, 0) for _ in range(2))
    assert first is other


def test_the_indexes_list_exactly_the_flags_that_they_are_for():
    flags = [EdgeFlag(n) for n in range(max(EdgeFlag) * 2)]
    assert [f for f in flags if EdgeFlag.NOTIFIES in f] == NOTIFYING_FLAGS
    assert [f for f in flags if EdgeFlag.ENDORSED in f] == [f for f in flags if f >= 8]


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
