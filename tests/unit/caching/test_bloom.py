"""Bloom filters: nobody who was added is denied, few others pass, the layout is as written."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from infra.caching.bloom import (
    BITS_EACH,
    HASHES,
    HEADER_BYTES,
    OPEN_FILTER,
    capacity_for,
    hashes_of,
    make_filter,
    may_hold,
)

account_ids = st.integers(1, 36**6 - 1)
STRANGERS = range(10_000_000, 10_020_000)


@given(st.sets(account_ids, max_size=300), st.integers(0, 300))
def test_every_member_may_be_there(members, spare):
    data = make_filter(members, len(members) + spare + 1)
    assert all(may_hold(data, member) for member in members)


@given(account_ids)
def test_hashes_are_two_numbers_that_lua_adds_exactly(member):
    h1, h2 = hashes_of(member)
    assert 0 <= h1 < 2**32
    assert 0 < h2 < 2**32
    assert h2 % 2 == 1


def false_positives(data: bytes) -> float:
    return sum(may_hold(data, stranger) for stranger in STRANGERS) / len(STRANGERS)


def test_a_full_filter_takes_one_stranger_in_a_hundred_for_a_member():
    for count in (50, 500, 5_000):
        assert false_positives(make_filter(range(1, count + 1), count)) < 0.012


def test_a_filter_as_it_is_made_takes_one_in_a_thousand():
    for count in (50, 500, 5_000):
        data = make_filter(range(1, count + 1), capacity_for(count))
        assert false_positives(data) < 0.0025


def test_a_filter_of_nobody_holds_nobody():
    assert false_positives(make_filter([], capacity_for(0))) == 0


def test_an_open_filter_rules_nobody_out():
    assert false_positives(OPEN_FILTER) == 1


def test_the_filter_of_500_relations_is_a_kilobyte():
    assert len(make_filter(range(500), capacity_for(500))) < 1_000


def test_layout():
    assert make_filter([], 4) == bytes.fromhex("00000004 00000000 0000000000")
    data = make_filter([77], 100)
    assert struct.unpack(">II", data[:HEADER_BYTES]) == (100, 1)
    assert len(data) == HEADER_BYTES + 100 * BITS_EACH // 8
    h1, h2 = hashes_of(77)
    expected = {(h1 + k * h2) % 1000 for k in range(HASHES)}
    bits = "".join(f"{byte:08b}" for byte in data[HEADER_BYTES:])
    assert {n for n, bit in enumerate(bits) if bit == "1"} == expected
