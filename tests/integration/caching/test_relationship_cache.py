"""Pairs and their filter: what may be laid when, what a change undoes, and how little is stored."""

import itertools
import struct
from functools import partial

import pytest
from prometheus_client import REGISTRY

from infra.caching.bloom import HEADER_BYTES, OPEN_FILTER, make_filter, may_hold
from infra.caching.questions import answer_by_redis
from infra.caching.relationship_cache import RelationshipCache, RelationshipCacheReply
from infra.caching.viewer_validators import viewer_key
from tests.races import failures, run_together

PAIRS = RelationshipCache(
    "tests.pairs:v1",
    ttl_s=60,
    filter_ttl_s=600,
    max_pairs=5,
    max_filtered=40,
    max_pairs_unfiltered=100,
    read=int,
)
ME = 7
FRIENDS, STRANGER = [1, 2, 3], 900


def read(cache, others=FRIENDS) -> RelationshipCacheReply:
    return answer_by_redis(PAIRS.ask(ME, others))


def lay(cache, reading: RelationshipCacheReply, pairs, made: bytes | None = None) -> bool:
    return bool(cache.call(*PAIRS.write_command(ME, reading, pairs, made)))


def change(cache, *others: int) -> None:
    cache.call(*PAIRS.change_command(ME, others))


def validator(cache) -> bytes | None:
    return cache.call("HGET", viewer_key(ME), "r")


def held(cache) -> bytes:
    return cache.call("GET", PAIRS.filter_key(ME))


def test_what_was_laid_is_read_again_and_strangers_are_ruled_out(cache):
    cold = read(cache)
    assert (cold.cached, cold.unknown, cold.filter_data) == ({}, FRIENDS, None)
    assert lay(cache, cold, {1: 10, 2: 20}, PAIRS.make_filter(FRIENDS))
    warm = read(cache, [STRANGER, *FRIENDS])
    assert (warm.cached, warm.unknown) == ({1: 10, 2: 20}, [3])
    assert warm.validator == cold.validator == validator(cache)


def test_the_first_read_lays_a_stamp_and_later_ones_keep_it(cache):
    assert validator(cache) is None
    assert read(cache).validator == read(cache).validator == validator(cache)


def test_a_change_forgets_its_pairs_alone_and_replaces_the_stamp(cache):
    reading = read(cache)
    lay(cache, reading, {1: 10, 2: 20}, PAIRS.make_filter(FRIENDS))
    change(cache, 1)
    after = read(cache)
    assert after.cached == {2: 20}
    assert after.validator != reading.validator


def test_what_was_read_before_a_change_is_not_laid_after_it(cache):
    reading = read(cache)
    change(cache, 1)
    assert not lay(cache, reading, {1: 10}, PAIRS.make_filter([]))
    assert read(cache)[1:] == ({}, FRIENDS, None, True, {})


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_was_read_before_the_hash_was_lost_is_not_laid(cache, is_changed):
    """Nobody can tell whether something changed meanwhile: the change leaves nothing behind."""
    reading = read(cache)
    cache.call("FLUSHDB")
    if is_changed:
        change(cache, 1)
        assert cache.call("KEYS", "*") == []
    assert not lay(cache, reading, {1: 10}, PAIRS.make_filter([]))
    read(cache)
    assert not lay(cache, reading, {1: 10}, PAIRS.make_filter([])), "another reader began anew"


def test_pairs_without_their_validator_are_still_changed(cache):
    """Redis may evict the validators alone, and keep the pairs and the filter."""
    reading = read(cache)
    lay(cache, reading, {1: 10, 2: 20}, PAIRS.make_filter(FRIENDS))
    cache.call("DEL", viewer_key(ME))
    change(cache, 1, STRANGER)
    assert not lay(cache, reading, {1: 10})
    after = read(cache, [*FRIENDS, STRANGER])
    assert (after.cached, after.unknown) == ({2: 20}, [1, 3, STRANGER])
    assert not lay(cache, reading, {1: 10})


def test_validators_outlive_pairs_that_were_evicted(cache):
    reading = read(cache)
    lay(cache, reading, {1: 10}, PAIRS.make_filter(FRIENDS))
    cache.call("DEL", PAIRS.key(ME), PAIRS.filter_key(ME))
    change(cache, 1)
    assert not lay(cache, reading, {1: 10})
    assert read(cache)[1:] == ({}, FRIENDS, None, True, {})


def test_a_change_adds_to_the_filter_in_place(cache):
    lay(cache, read(cache), {}, PAIRS.make_filter(FRIENDS))
    new = range(1_000, 1_020)
    change(cache, *new)
    assert all(may_hold(held(cache), other) for other in [*FRIENDS, *new])
    assert not may_hold(held(cache), STRANGER)
    capacity, count = struct.unpack(">II", held(cache)[:HEADER_BYTES])
    assert (capacity, count) == (35, 23)


def test_lua_and_python_set_the_same_bits(cache):
    others = range(3, 36**6, 36**5)
    lay(cache, read(cache), {}, make_filter([], 60))
    change(cache, *others)
    assert held(cache)[HEADER_BYTES:] == make_filter(others, 60)[HEADER_BYTES:]


def test_a_member_who_comes_again_does_not_fill_the_filter(cache):
    lay(cache, read(cache), {}, PAIRS.make_filter(FRIENDS))
    before = held(cache)
    for _ in range(100):
        change(cache, 2)
    assert held(cache) == before


def test_a_filter_that_is_overfull_is_dropped_to_be_made_anew(cache):
    lay(cache, read(cache), {}, PAIRS.make_filter(FRIENDS))
    change(cache, *range(1_000, 1_033))
    assert held(cache) is None
    assert read(cache, [STRANGER]).unknown == [STRANGER]


def test_too_many_relations_have_an_open_filter_and_more_pairs(cache):
    made = PAIRS.make_filter(range(41))
    assert made == OPEN_FILTER
    lay(cache, read(cache), {}, made)
    change(cache, 1_000)
    assert held(cache) == OPEN_FILTER
    reading = read(cache, [STRANGER])
    assert reading.unknown == [STRANGER]
    lay(cache, reading, dict.fromkeys(range(50), 1))
    assert len(read(cache, range(50)).cached) == 50


def test_a_hash_that_would_grow_too_large_begins_anew_under_its_stamp(cache):
    reading = read(cache)
    for other in range(5):
        lay(cache, reading, {other: 1}, PAIRS.make_filter(FRIENDS))
    assert len(read(cache, range(5)).cached) == 5
    assert lay(cache, reading, {5: 1})
    after = read(cache, range(9))
    assert (after.cached, after.validator) == ({5: 1}, reading.validator)
    assert 0 < cache.call("PTTL", PAIRS.key(ME)) <= 60_000


def test_everything_ends_by_itself(cache):
    lay(cache, read(cache), {1: 1, 2: 1}, PAIRS.make_filter(FRIENDS))
    assert 50_000 < cache.call("PTTL", PAIRS.key(ME)) <= 60_000
    assert 500_000 < cache.call("PTTL", PAIRS.filter_key(ME)) <= 600_000
    assert cache.call("PTTL", viewer_key(ME)) > 80_000_000
    change(cache, 1)
    assert cache.call("PTTL", PAIRS.key(ME)) > 0
    assert cache.call("PTTL", PAIRS.filter_key(ME)) > 0


def test_a_pair_costs_a_few_bytes(cache):
    wide = PAIRS._replace(max_pairs=255)
    reading = read(cache)
    pairs = {10_000_000 + 7 * n: n % 128 for n in range(255)}
    cache.call(*wide.write_command(ME, reading, pairs, None))
    assert cache.call("OBJECT", "ENCODING", PAIRS.key(ME)) == b"listpack"
    assert cache.call("MEMORY", "USAGE", PAIRS.key(ME)) / 255 < 12


def tier(name: str, outcome: str) -> float:
    labels = {"family": "tests.pairs", "tier": name, "outcome": outcome}
    return REGISTRY.get_sample_value("tideline_cache_reads_total", labels) or 0


def test_reads_are_counted_by_tier(cache):
    lay(cache, read(cache), {1: 10}, PAIRS.make_filter(FRIENDS))
    names = list(itertools.product(("redis", "filter"), ("hit", "miss")))
    before = [tier(*name) for name in names]
    read(cache, [1, 2, STRANGER])
    assert [tier(*n) - was for n, was in zip(names, before, strict=True)] == [1, 2, 1, 1]


def test_changes_that_race_the_laying_are_never_denied_nor_undone(cache):
    """The source here is a set; a change writes it first, a loader reads it after the validator."""
    for turn in range(200):
        source = {1: 1}
        other = 1_000 + turn
        cache.call("DEL", PAIRS.key(ME), PAIRS.filter_key(ME), viewer_key(ME))

        def load(source=source):
            reading = read(cache, [1])
            known = dict(source)
            lay(cache, reading, {1: known[1]}, PAIRS.make_filter(list(known)))

        def write(source=source, other=other):
            source[other] = 1
            source[1] = 2
            change(cache, other, 1)

        assert failures(run_together([load, load, write, partial(load)])) == []
        after = read(cache, [1, other])
        assert after.cached.get(1) in (None, 2)
        assert other in after.unknown
