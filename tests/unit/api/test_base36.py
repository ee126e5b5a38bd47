"""Base 36: every number survives the trip, and text sorts as the numbers do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api import base36

WIDTH = 6
NUMBERS = st.integers(0, 36**WIDTH - 1)


@given(NUMBERS)
def test_round_trip(number):
    text = base36.encode(number, WIDTH)
    assert len(text) == WIDTH
    assert base36.decode(text) == number


@given(NUMBERS, NUMBERS)
def test_text_sorts_as_numbers(one, other):
    texts = base36.encode(one, WIDTH), base36.encode(other, WIDTH)
    assert (texts[0] < texts[1]) == (one < other)


@given(st.text(max_size=8))
def test_only_what_encode_writes_is_read(text):
    try:
        number = base36.decode(text)
    except ValueError:
        return
    assert base36.encode(number, len(text)) == text


@pytest.mark.parametrize("text", ["", "A", "+1", "-1", " 1", "1 ", "1_0", "٣", "1\n", "é"])
def test_what_int_would_forgive_is_refused(text):
    with pytest.raises(ValueError):
        base36.decode(text)


@pytest.mark.parametrize("number", [-1, 36**WIDTH, 2**64])
def test_what_does_not_fit_is_refused(number):
    with pytest.raises(OverflowError):
        base36.encode(number, WIDTH)
