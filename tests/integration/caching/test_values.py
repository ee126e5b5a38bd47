"""Cached values: no write goes back in time, misses come from the source, with or without Redis."""

import threading
import time

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import load_tokens, questions
from infra.caching.keys import jittered_ms
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
