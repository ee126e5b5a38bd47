"""Post ids: both text forms, the packed form, moments, and the order they all share."""

import struct
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID, MOST_DIGITS
from posts import ids
from posts.ids import (
    BASE36_DIGITS,
    EPOCH,
    FIRST,
    LAST,
    MAX_SECOND,
    PACKED_BYTES,
    SEQUENCES,
    MalformedPostId,
    PostId,
    moment_after,
    moment_below,
    second_of,
)

EXAMPLE = PostId(1, 2, 3)


def near(most: int) -> st.SearchStrategy[int]:
    """Any number, but often one of a few, so that pairs tie in their leading parts."""
    return st.integers(0, most) | st.sampled_from([0, 1, 35, 36, most - 1, most])


post_ids = st.builds(PostId, near(MAX_SECOND), near(MAX_ACCOUNT_ID), near(SEQUENCES - 1))


@given(post_ids)
def test_every_form_comes_back_as_it_was(post_id):
    assert PostId.from_public(post_id.public) == post_id
    assert PostId.from_public(post_id.base36) == post_id
    assert PostId.from_cursor(post_id.public) == PostId.from_cursor(post_id.base36) == post_id
    assert PostId.from_base36(post_id.base36) == post_id
    assert PostId.from_number(post_id.number) == post_id
    assert PostId.from_routed(post_id.routed) == post_id
    assert PostId.from_packed(post_id.packed) == post_id
    assert PostId.from_packed(b"\x00" * 7 + post_id.packed, 7) == post_id
    assert PostId.at(post_id.author_id, post_id.moment) == post_id


@given(post_ids)
def test_forms_have_fixed_widths(post_id):
    assert (len(post_id.base36), len(post_id.routed)) == (14, 14)
    assert len(post_id.packed) == PACKED_BYTES


@given(post_ids, post_ids)
def test_number_base36_and_packed_form_sort_as_the_ids_do(one, other):
    in_order = one < other
    assert in_order == (int(one.public) < int(other.public)) == (one.number < other.number)
    assert in_order == (one.base36 < other.base36) == (one.packed < other.packed)


@given(post_ids)
def test_public_form_is_decimal_and_cannot_be_taken_for_base36(post_id):
    text = post_id.public
    assert text.isascii()
    assert text.isdigit()
    assert 15 <= len(text) <= 22
    assert int(text) == int(post_id.base36, 36)


def test_the_first_35_seconds_have_15_digits():
    """Their numbers are below 10**14, and 14 digits would be read as base36."""
    for second in (0, 34, 35, 36, 353, 354, 355):
        for post_id in (PostId(second, 0, 0), PostId(second, MAX_ACCOUNT_ID, SEQUENCES - 1)):
            assert len(post_id.public) >= 15
            assert PostId.from_public(post_id.public) == post_id


def test_14_digits_are_base36_and_zeros_in_front_change_nothing():
    number = str(EXAMPLE.number)
    for zeros in range(MOST_DIGITS - len(number) + 1):
        text = "0" * zeros + number
        expected = int(text, 36) if len(text) == BASE36_DIGITS else EXAMPLE.number
        assert PostId.from_public(text).number == expected


def test_numbers_above_the_last_id_are_cursors_but_no_ids():
    for number in (LAST.number + 1, 10**23 - 1, 10**MOST_DIGITS - 1):
        assert PostId.from_cursor(str(number)) == LAST
        with pytest.raises(MalformedPostId):
            PostId.from_public(str(number))
    assert PostId.from_cursor("0") == PostId.from_cursor("0" * 14) == FIRST
    assert PostId.from_cursor(str(EXAMPLE.number - 1)) < EXAMPLE


@given(near(MAX_ACCOUNT_ID), st.lists(st.tuples(near(MAX_SECOND), near(SEQUENCES - 1))))
def test_routed_form_and_moment_sort_posts_of_one_author_by_time(author_id, times):
    mine = [PostId(second, author_id, sequence) for second, sequence in times]
    in_time = sorted(mine)
    assert sorted(mine, key=lambda post_id: post_id.routed) == in_time
    assert sorted(mine, key=lambda post_id: post_id.moment) == in_time


@given(post_ids)
def test_routed_form_names_the_author_first(post_id):
    assert post_id.routed[:6] == PostId(0, post_id.author_id, 0).base36[6:12]


def test_example_of_the_docstring_is_true():
    assert EXAMPLE.base36 == "00000100000203"
    assert EXAMPLE.public == "002821109910051"
    assert EXAMPLE.routed == "00000200000103"
    assert EXAMPLE.moment == 1299
    assert EXAMPLE.packed == struct.pack(">IIH", 1, 2, 3)
    told = f"base36 {EXAMPLE.base36}, routed {EXAMPLE.routed}, moment {EXAMPLE.moment}"
    assert f"PostId{tuple(EXAMPLE)}: {told}" in (ids.__doc__ or "")
    assert f"public {EXAMPLE.public}\n" in (ids.__doc__ or "")


def test_epoch_and_last_second_are_those_of_the_docstring():
    ends = {"EPOCH": EPOCH, "last": EPOCH + MAX_SECOND}
    for unix_s in ends.values():
        assert f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%dT%H:%M:%SZ}" in (ids.__doc__ or "")


def test_seconds_outside_the_six_digits_are_refused():
    assert second_of(EPOCH) == 0
    assert second_of(EPOCH + MAX_SECOND + 0.999) == MAX_SECOND
    for unix_s in (EPOCH - 1, EPOCH + MAX_SECOND + 1):
        with pytest.raises(OverflowError):
            second_of(unix_s)


def test_no_id_lies_outside_first_and_last():
    assert (FIRST.base36, LAST.base36) == ("0" * 14, "z" * 14)
    assert (FIRST.public, LAST.public) == ("0" * 15, str(36**14 - 1))
    assert PostId.from_public("z" * 14) == LAST


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "1.5",
        "1e9",
        "abc",
        "0x" + "1" * 13,
        "9" * (MOST_DIGITS + 1),
        "9" * 5_000,
        "٣" * 15,
        "0000010000020Z",
        "00000A00000203",
        "+0000100000203",
        "-0000100000203",
        " 0000100000203",
        "000001 0000203",
        "0000_100000203",
        "0000010000020\n",
        "0000010000020٣",
        "0000010000020é",
        "\ud800" * 14,
        "\x00" * 14,
    ],
)
def test_malformed_text_is_no_id(text):
    with pytest.raises(MalformedPostId):
        PostId.from_public(text)
    with pytest.raises(MalformedPostId):
        PostId.from_cursor(text)
    with pytest.raises(MalformedPostId):
        PostId.from_routed(text)


# Few enough to try all: seconds and authors around a bound, sequences at both ends of a second.
SECONDS, AUTHORS, PLACES = range(4), range(4), (0, 1, 2, SEQUENCES - 2, SEQUENCES - 1)
EVERY = [PostId(*facts) for facts in product(SECONDS, AUTHORS, PLACES)]


@pytest.mark.parametrize("author_id", AUTHORS)
def test_moment_below_cuts_exactly_the_posts_before_a_bound(author_id):
    mine = [post_id for post_id in EVERY if post_id.author_id == author_id]
    for bound in EVERY:
        cut = moment_below(bound, author_id)
        assert [p for p in mine if p < bound] == [p for p in mine if p.moment < cut]


@pytest.mark.parametrize("author_id", AUTHORS)
def test_moment_after_keeps_exactly_the_posts_after_a_bound(author_id):
    mine = [post_id for post_id in EVERY if post_id.author_id == author_id]
    for bound in EVERY:
        first = moment_after(bound, author_id)
        assert [p for p in mine if p > bound] == [p for p in mine if p.moment >= first]


@given(post_ids, post_ids)
def test_moments_cut_at_any_bound_whatever_the_author(post_id, bound):
    assert (post_id < bound) == (post_id.moment < moment_below(bound, post_id.author_id))
    assert (post_id > bound) == (post_id.moment >= moment_after(bound, post_id.author_id))
