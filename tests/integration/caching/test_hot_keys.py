"""Hot keys over real Redis: found by all processes together, cheap to read, never old for long.

The command that shows hot keys.
"""

import json
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import fleet_reads
from infra.caching.fleet_reads import WINDOW_S, add_reads, list_read_rates
from infra.caching.hot_keys import REPORT_S, HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.values import ValueCache, Versioned
from infra.caching.verbs import ShowHotKeys
from tests.budgets import count_calls
from tests.cached_values import write_values
from tests.clocks import Clock
from tests.unit.caching.test_frequent_keys import reads as reads_of

LIMITS = HotKeyLimits(reads_s=1_000, copy_s=1.0)
NAME = b"tests.hot:v1:{1}"
START_S = 1_000_000_000.0  # a multiple of WINDOW_S


@pytest.fixture
def clock():
    return Clock()


def process(clock):
    """The part of a process that counts reads."""
    return HotValues("tests.hot:v1", lambda owner: NAME, HotKeys(LIMITS, clock, clock))


def read(hot, clock, reads_s, seconds):
    for _ in range(seconds * reads_s):
        clock.now += 1 / reads_s
        for one in hot:
            one.split((1,))


def test_two_processes_find_together_what_neither_could_alone(cache, clock):
    one, other = process(clock), process(clock)
    read([one], clock, 600, 2 * WINDOW_S)
    assert one.hot_names() == set()
    read([one, other], clock, 600, 2 * WINDOW_S)
    assert one.hot_names() == other.hot_names() == {NAME}


def test_process_that_hardly_reads_it_needs_no_copy(cache, clock):
    one, other = process(clock), process(clock)
    for _ in range(2 * WINDOW_S):
        read([one], clock, 2_000, 1)
        other.split((1,))
    assert one.hot_names() == {NAME}
    assert other.hot_names() == set()


def test_window_slides(cache):
    assert add_reads({NAME: 5_000}, START_S) == {NAME: 1_000}
    assert add_reads({NAME: 500}, START_S + WINDOW_S - 0.1) == {NAME: 1_100}
    assert add_reads({NAME: 0}, START_S + 1.5 * WINDOW_S) == {NAME: 550}
    assert add_reads({NAME: 0}, START_S + 2 * WINDOW_S) == {NAME: 0}
    assert 0 < cache.call("PTTL", b"caching.hot:v1:{fleet}:200000001") <= 3_000 * WINDOW_S


def test_warm_keys_are_listed_by_how_much_they_are_read(cache):
    add_reads({b"a": 100, b"b": 1_000, b"c": 50}, START_S)
    add_reads({b"a": 500, b"d": 5}, START_S + 1.5 * WINDOW_S)
    found = list_read_rates(START_S + 1.5 * WINDOW_S)
    assert found == [("a", 110.0), ("b", 100.0), ("c", 5.0), ("d", 1.0)]


def cache_of(clock, rows):
    def load(owners):
        return {owner: rows[owner] for owner in owners}

    spec = ValueCache("tests.hot_value:v1", ttl_s=60, load=load)
    spec.hot = HotValues(spec.family, spec.key, HotKeys(LIMITS, clock, clock))
    return spec


def warm_up(spec, clock, owner=1):
    for _ in range(6_000):
        spec.hot.split((owner,))
    clock.now += REPORT_S
    spec.load_many([owner])
    assert spec.hot.hot_names() == {spec.key(owner)}


def test_ten_thousand_reads_a_second_cost_two_round_trips(cache, clock):
    """One for the value, one for the report."""
    spec = cache_of(clock, {1: Versioned(1, b"one")})
    warm_up(spec, clock)
    hot_before = reads_of("tests.hot_value", "hot", "hit")
    with count_calls() as calls:
        for _ in range(30_000):
            clock.now += 0.0001
            assert spec.load_many([1]) == {1: b"one"}
    assert calls.round_trips <= 3 * 2 + 1
    assert reads_of("tests.hot_value", "hot", "hit") - hot_before >= 29_990


def test_hot_nothing_is_remembered_too(cache, clock):
    spec = cache_of(clock, {1: Versioned(0, b"")})
    warm_up(spec, clock)
    with count_calls() as calls:
        assert spec.load_many([1]) == {}
    assert calls.round_trips == 0


def test_process_that_changes_a_hot_value_sees_it_at_once(cache, clock):
    spec = cache_of(clock, {1: Versioned(1, b"old")})
    warm_up(spec, clock)
    spec.refresh({1: Versioned(2, b"new")})
    clock.now += 0.001
    assert spec.load_many([1]) == {1: b"new"}


def test_change_made_elsewhere_shows_when_the_copy_is_too_old(cache, clock):
    spec = cache_of(clock, {1: Versioned(1, b"old")})
    warm_up(spec, clock)
    write_values(spec, {1: Versioned(2, b"new")})
    clock.now += LIMITS.copy_s - 0.001
    assert spec.load_many([1]) == {1: b"old"}
    clock.now += 0.001
    assert spec.load_many([1]) == {1: b"new"}


def test_change_made_while_it_is_read_is_not_hidden_by_the_copy(cache, clock, monkeypatch):
    """This process reads the old value, changes it, and only then keeps what was read."""
    spec = cache_of(clock, {1: Versioned(1, b"old")})
    warm_up(spec, clock)
    clock.now += LIMITS.copy_s
    slow = spec.ask(spec.hot.split((1,)))
    slow.replies = cache.run(slow.commands)
    spec.refresh({1: Versioned(2, b"new")})
    assert slow.value == {1: b"old"}
    clock.now += 0.001
    assert spec.load_many([1]) == {1: b"new"}


def test_cold_and_hot_are_read_together_and_only_the_cold_asked_for(cache, clock, monkeypatch):
    spec = cache_of(clock, {1: Versioned(1, b"one"), 2: Versioned(1, b"two")})
    warm_up(spec, clock)
    asked = []
    run = cache.run
    monkeypatch.setattr(cache, "run", lambda sent: asked.extend(sent) or run(sent))
    assert spec.load_many([1, 2, 1]) == {1: b"one", 2: b"two"}
    assert {command for command in asked if command[0] == "MGET"} == {("MGET", spec.key(2))}


def show(**options):
    """Without the keys of other tests: this process may report its reads of them at any time."""
    out = StringIO()
    call_command(ShowHotKeys(), stdout=out, **options)
    lines = out.getvalue().splitlines()
    return [line for line in lines if "tests.hot" in line or "reads/s" in line]


@pytest.fixture
def warm(cache, settings):
    settings.HOT_KEY_READS = 1_000
    add_reads({b"tests.hot:v1:{1}": 20_000, b"tests.hot:v1:{2}": 100}, time.time())


@pytest.fixture
def redis_away(monkeypatch):
    def refuse():
        raise RedisConnectionError("refused")

    monkeypatch.setattr(fleet_reads, "redis", refuse)


def test_command_shows_the_most_read_first(warm):
    header, first, second = show()
    assert header.split() == ["reads/s", "hot", "key"]
    assert first.split()[1:] == ["yes", "tests.hot:v1:{1}"]
    assert second.split()[1:] == ["tests.hot:v1:{2}"]


def test_command_as_json(warm):
    first, second = map(json.loads, show(json=True))
    assert (first["key"], first["is_hot"]) == ("tests.hot:v1:{1}", True)
    assert first["reads_s"] > 1_000
    assert (second["key"], second["is_hot"]) == ("tests.hot:v1:{2}", False)


def test_command_says_that_redis_is_away(redis_away):
    with pytest.raises(CommandError, match="Redis is away: refused"):
        show()
