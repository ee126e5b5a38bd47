"""Cached values: no write goes back in time, misses come from the source, with or without Redis.

Cached hashes: complete or absent, and never older than a change that was seen.
"""

import threading
import time
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import load_tokens, questions
from infra.caching.client import redis
from infra.caching.hashes import HashCache, HashChange
from infra.caching.keys import jittered_ms
from infra.caching.load_tokens import begin_loads
from infra.caching.questions import answer
from infra.caching.values import ValueCache, Versioned
from tests.budgets import count_calls
from tests.cached_values import write_values
from tests.waiting import PATIENCE_S


class Source:
    """What the loader reads; counts its reads."""

    def __init__(self, **rows):
        self.rows = {int(name[1:]): entry for name, entry in rows.items()}
        self.reads = []

    def load(self, owners):
        self.reads.append(list(owners))
        return {owner: self.rows[owner] for owner in owners if owner in self.rows}


def cache_of(source):
    return ValueCache("tests.value:v1", ttl_s=60, load=source.load)


def test_miss_is_read_once_and_kept(cache):
    source = Source(o1=Versioned(1, b"one"), o2=Versioned(1, b"two:2"))
    spec = cache_of(source)
    assert spec.load_many([1, 2, 1]) == {1: b"one", 2: b"two:2"}
    assert spec.load_many([2, 1]) == {1: b"one", 2: b"two:2"}
    assert source.reads == [[1, 2]]


def test_nothing_is_remembered_as_nothing(cache):
    source = Source(o1=Versioned(0, b""))
    spec = cache_of(source)
    assert spec.load_many([1]) == {}
    assert spec.load_many([1]) == {}
    assert source.reads == [[1]]


def test_no_owners_cost_no_round_trip():
    with count_calls() as calls:
        assert cache_of(Source()).load_many([]) == {}
    assert calls.round_trips == 0


@pytest.mark.parametrize("write", [write_values, ValueCache.refresh])
@pytest.mark.parametrize(
    ("old", "new", "kept"), [(5, 4, b"old"), (5, 5, b"new"), (5, 6, b"new"), (9, 10, b"new")]
)
def test_older_write_never_lands(cache, old, new, kept, write):
    spec = cache_of(Source())
    write_values(spec, {1: Versioned(old, b"old")})
    write(spec, {1: Versioned(new, b"new")})
    assert spec.load_many([1]) == {1: kept}


def test_change_during_a_slow_load_stays(cache):
    """The loader has read the old value when the change comes, and puts it after the change."""
    has_read, has_changed = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))

    def load_slowly(owners):
        found = {1: Versioned(1, b"old")}
        has_read.wait()
        has_changed.wait()
        return found

    slow = ValueCache("tests.value:v1", ttl_s=60, load=load_slowly)
    thread = threading.Thread(target=slow.load_many, args=([1],))
    thread.start()
    has_read.wait()
    spec = cache_of(Source())
    spec.refresh({1: Versioned(2, b"new")})
    has_changed.wait()
    thread.join()
    assert cache.call("EXISTS", spec.key(1)) == 0


def test_entries_expire_within_their_time(cache):
    write_values(cache_of(Source()), {1: Versioned(1, b"x")})
    left_ms = cache.call("PTTL", b"tests.value:v1:{1}")
    assert 53_000 < left_ms <= 60_000


def test_entries_made_together_part_ways():
    times = [jittered_ms(60) for _ in range(200)]
    assert len(set(times)) > 100
    assert min(times) >= 54_000
    assert max(times) <= 60_000


def test_redis_away_reads_the_source(monkeypatch):
    class Away:
        reads_keys_together = True

        def run(self, commands):
            raise RedisConnectionError

        def call(self, *command):
            raise RedisConnectionError

    for module in (questions, load_tokens):
        monkeypatch.setattr(module, "redis", Away)
    source = Source(o1=Versioned(1, b"one"))
    spec = cache_of(source)
    assert spec.load_many([1, 2]) == {1: b"one"}


@pytest.mark.parametrize("ahead_s", [3_600, 86_400])
@pytest.mark.parametrize(
    "read", [ValueCache.load_many, lambda spec, o: answer(spec.ask_uncopied(o))]
)
def test_an_entry_of_a_clock_that_went_back_is_read_again(cache, monkeypatch, ahead_s, read):
    """Else the public timeline would stand still until the clock is there again."""
    source, now_s = Source(o1=Versioned(1, b"old")), time.time()
    spec = cache_of(source)
    with monkeypatch.context() as patch:
        patch.setattr("infra.caching.values.time.time", lambda: now_s + ahead_s)
        spec.load_many([1])
    source.rows[1] = Versioned(2, b"new")
    assert read(spec, [1]) == {1: b"new"}
    assert read(spec, [1]) == {1: b"new"}
    assert len(source.reads) == 2


def test_an_entry_of_a_clock_that_is_half_a_minute_ahead_is_fresh(cache, monkeypatch):
    source, now_s = Source(o1=Versioned(1, b"old")), time.time()
    spec = cache_of(source)
    with monkeypatch.context() as patch:
        patch.setattr("infra.caching.values.time.time", lambda: now_s + 30)
        spec.load_many([1])
    spec.load_many([1])
    assert len(source.reads) == 1


SPEC = HashCache("tests.hash:v1", ttl_s=60)
FIELDS = ["a", "b", "c"]


def begin():
    return begin_loads(SPEC.family, [SPEC.key(1, 0)])


def put(version, fields, tokens=None):
    """As a loader: `tokens` None: without any event between."""
    return redis().run(SPEC.write_commands(1, 0, tokens or begin(), version, fields))[0]


def change(before, after, added=None, removed=()):
    news = HashChange(before, after, added or {}, removed)
    return redis().run([SPEC.change_command(1, 0, news)])[0]


def read(fields=FIELDS):
    found = answer(SPEC.ask(1, 0, fields))
    return None if found is None else dict(zip(fields, found, strict=True))


def test_absent_and_empty_are_told_apart(cache):
    assert read() is None
    put(1, {})
    assert read() == {"a": None, "b": None, "c": None}


def test_parts_of_an_owner_are_kept_apart(cache):
    put(1, {"a": b"1"})
    assert answer(SPEC.ask(1, 1, ["a"])) is None


def test_next_version_changes_it_in_place(cache):
    put(1, {"a": b"1", "b": b"2"})
    assert change(1, 2, {"c": b"3"}, ["a"]) == 1
    assert read() == {"a": None, "b": b"2", "c": b"3"}


def test_change_that_is_in_already_does_nothing(cache):
    put(2, {"a": b"1"})
    assert change(1, 2, removed=["a"]) == 0
    assert read(["a"]) == {"a": b"1"}


def test_gap_drops_it(cache):
    put(1, {"a": b"1"})
    assert change(2, 3, {"b": b"2"}) == -1
    assert read() is None


def test_times_to_live(cache):
    put(1, {"a": b"1"})
    before = cache.call("PTTL", SPEC.key(1, 0))
    assert 53_000 < before <= 60_000
    change(1, 2, {"b": b"2"})
    assert 0 < cache.call("PTTL", SPEC.key(1, 0)) <= before


def test_change_of_a_hash_during_a_slow_load_stays(cache):
    has_read, has_changed = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))
    landed = []

    def load_slowly():
        tokens = begin()
        has_read.wait()
        has_changed.wait()
        landed.append(put(1, {"a": b"old"}, tokens))

    thread = threading.Thread(target=load_slowly)
    thread.start()
    has_read.wait()
    change(1, 2, {"a": b"new"})
    has_changed.wait()
    thread.join()
    assert landed == [0]
    assert read() is None


def test_more_fields_than_lua_can_unpack(cache):
    many = {str(number): b"x" for number in range(9_000)}
    put(1, many)
    more = {str(number): b"y" for number in range(9_000, 18_000)}
    assert change(1, 2, more, list(many)[:8_999]) == 1
    assert cache.call("HLEN", SPEC.key(1, 0)) == 9_002  # one left, 9,000 new, the version
    assert read(["8998", "8999", "17999"]) == {"8998": None, "8999": b"x", "17999": b"y"}


STEPS = st.sampled_from(["begin", "end", "tell", "flush"])


class History(NamedTuple):
    versions: list[dict[str, bytes]]
    changes: list[tuple[dict[str, bytes], list[str]]]


@st.composite
def histories(draw):
    hashes = st.dictionaries(st.sampled_from(FIELDS), st.sampled_from([b"1", b"2"]), max_size=3)
    versions, changes = [draw(hashes)], []
    for _ in range(draw(st.integers(1, 5))):
        added, removed = draw(hashes), draw(st.lists(st.sampled_from(FIELDS), max_size=2))
        left = {field: value for field, value in versions[-1].items() if field not in removed}
        versions.append(left | added)
        changes.append((added, removed))
    return History(versions, changes)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories(), data=st.data())
def test_cached_hash_is_always_one_that_was(cache, history, data):
    """Slow loads, changes twice and late, flushes: never one that never was, or went back."""
    cache.call("FLUSHDB")
    last, told, loads = len(history.versions) - 1, 0, []
    for step in data.draw(
        st.lists(st.sampled_from(["begin", "end", "tell", "flush"]), max_size=12)
    ):
        if step == "begin":
            loads.append((begin(), data.draw(st.integers(told, last))))
        elif step == "end" and loads:
            tokens, version = loads.pop(data.draw(st.integers(0, len(loads) - 1)))
            put(version, history.versions[version], tokens)
        elif step == "tell" and told < last:
            told += 1
            for version in (data.draw(st.integers(1, told)), told):
                change(version - 1, version, *history.changes[version - 1])
        elif step == "flush":
            cache.call("FLUSHDB")
        found = read()
        if found is not None:
            at = int(cache.call("HGET", SPEC.key(1, 0), "!"))
            assert found == {field: history.versions[at].get(field) for field in FIELDS}
            assert at >= told
