"""Counts of what is read most: bounded, never over, short by a bounded part.

Values that are in process memory for a short time.

Hits and misses by family and tier.

Bloom filters: nobody who was added is denied, few others pass, the layout is as written.
"""

import struct
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

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
from infra.caching.frequent_keys import MOST_COUNTED, FrequentKeys
from infra.caching.metrics import count_reads
from infra.caching.short_lived import ShortLived

BATCH = 40


def test_counts_are_taken_from_a_floor_on_and_begin_anew():
    counts = FrequentKeys()
    counts.add([1, 2, 1])
    counts.add((1,))
    assert counts.take(2) == {1: 3}
    assert counts.take(1) == {}


def test_memory_is_bounded_with_a_million_keys_and_the_hot_one_is_found():
    counts, most = FrequentKeys(), 0
    for start in range(0, 1_000_000, BATCH):
        counts.add(range(start, start + BATCH))
        counts.add((-1,))
        most = max(most, len(counts))
    assert most <= MOST_COUNTED + BATCH
    [(key, count)] = counts.take(10_000).items()
    reads_of_it, reads = 25_000, 1_025_000
    assert key == -1
    assert reads_of_it - 2 * reads / MOST_COUNTED <= count <= reads_of_it


@given(st.lists(st.lists(st.integers(0, 12), max_size=6), max_size=30), st.integers(1, 6))
def test_short_by_a_bounded_part_and_never_over(batches, most):
    counts, truth = FrequentKeys(most), Counter()
    for batch in batches:
        counts.add(batch)
        truth.update(batch)
    counted = counts.take(1)
    for key, reads in truth.items():
        assert reads - 2 * truth.total() / most <= counted.get(key, 0) <= reads


def test_key_that_comes_steadily_is_not_kept_out_by_what_was_read_before():
    counts, new = FrequentKeys(most=3), iter(range(1, 1_000))
    counts.add([-1] * 1_000)
    for _ in range(100):
        counts.add([-2] * 100 + [next(new), next(new)])
    reads = 1_000 + 100 * 102
    assert counts.take(1)[-2] >= 10_000 - 2 * reads / 3


class Key:
    """Does something between one key and the next, as another thread might."""

    meanwhile = staticmethod(lambda: None)

    def __hash__(self):
        self.meanwhile()
        return id(self)


def test_taking_goes_on_while_another_thread_still_adds(monkeypatch):
    counts = FrequentKeys()
    counts.add([Key(), Key()])
    # What a thread that is in the middle of `add` has in its hands.
    held, numbers = counts._counts, iter(range(100))
    monkeypatch.setattr(Key, "meanwhile", lambda key: held.update({next(numbers): 1}))
    assert len(counts.take(1)) == 2


TTL_MS = 1_000


def by_number(_: object) -> int:
    """All weigh the same."""
    return 1


class Value:
    """Something that a weak reference can name."""


def test_a_value_is_there_until_its_time_ends() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 5)
    assert values.get("a", 5) == values.get("a", 5 + TTL_MS - 1) == "value"
    assert values.get("a", 5 + TTL_MS) is None and values.get("b", 5) is None


def test_a_clock_that_was_set_back_ends_it() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 5_000)
    assert values.get("a", 4_999) is None


def test_a_value_that_is_stored_again_has_a_new_time() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "old", 0)
    values.put("a", "new", 900)
    assert values.get("a", 1_500) == "new"


def test_the_least_recently_used_one_goes_first() -> None:
    values = ShortLived[str, str](2, TTL_MS, by_number)
    values.put("a", "a", 0)
    values.put("b", "b", 0)
    values.get("a", 1)
    values.put("c", "c", 2)
    assert [values.get(key, 3) for key in "abc"] == ["a", None, "c"]


def test_an_ended_value_goes_although_another_one_is_stored_all_the_time() -> None:
    """Else what it holds would stay in memory, and nothing would ever use it."""
    values = ShortLived[str, Value](10, TTL_MS, by_number)
    values.put("often", Value(), 0)
    once = Value()
    values.put("once", once, 0)
    gone = ref(once)
    del once
    values.put("often", Value(), TTL_MS - 1)
    assert gone() is not None
    values.put("often", Value(), TTL_MS)
    assert gone() is None


def test_nothing_is_left_after_clear() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 0)
    values.clear()
    assert values.get("a", 0) is None


def test_a_request_that_began_earlier_drops_no_newer_value() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("newer", "value", 50)
    values.put("earlier", "value", 10)
    assert values.get("newer", 60) == "value"


def test_threads_may_store_and_clear_at_the_same_time() -> None:
    values = ShortLived[int, int](50, 5, by_number)

    def store(step: int) -> None:
        for n in range(20_000):
            values.put(step * n % 97, n, n % 4_000)
            if n % 100 == 0:
                values.clear()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(store, (3, 5, 7, 11)))
    values.put(1, 1, 0)
    assert values.get(1, 0) == 1


def reads(family, tier, outcome):
    labels = {"family": family, "tier": tier, "outcome": outcome}
    return REGISTRY.get_sample_value("tideline_cache_reads_total", labels) or 0


def test_a_family_is_counted_without_its_layout_and_site():
    count_reads("tests.reads:v1:5f1d7a84", "redis", hits=3, misses=2)
    count_reads("tests.reads:v2", "redis", hits=1)
    assert reads("tests.reads", "redis", "hit") == 4
    assert reads("tests.reads", "redis", "miss") == 2


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
