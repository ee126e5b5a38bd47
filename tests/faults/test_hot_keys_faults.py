"""Redis is killed, or hangs, while a key is hot: nothing stays hot, and answers are right."""

import time

import pytest

from infra.caching import breaker, hot_fleet, leases, values
from infra.caching.hot_keys import REPORT_S, HotKeys, Limits
from infra.caching.hot_values import HotValues
from infra.caching.values import ValueCache, Versioned
from tests.clocks import Clock
from tests.faults.redis_alone import TIMEOUT_S

LIMITS = Limits(reads_s=100, copy_s=1.0)


@pytest.fixture
def redis_of_its_own(client, monkeypatch):
    for module in (hot_fleet, leases, values):
        monkeypatch.setattr(module, "redis", lambda: client)
    monkeypatch.setattr(breaker, "REST_S", 0.05)
    client.call("FLUSHDB")  # what a hung server was sent it did when it woke


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rows():
    return {1: Versioned(1, b"old")}


@pytest.fixture
def spec(redis_of_its_own, clock, rows):
    spec = ValueCache("tests.hot_fault:v1", 60, lambda owners: {o: rows[o] for o in owners})
    spec.hot = HotValues(spec.family, spec.key, HotKeys(LIMITS, clock, clock))
    return spec


def make_hot(spec, clock):
    for _ in range(600):
        spec.load_many([1])
    clock.now += REPORT_S
    spec.load_many([1])


def is_hot(spec):
    return bool(spec.hot.hot_names())


@pytest.mark.parametrize("fail", ["kill", "pause"])
def test_nothing_is_hot_and_answers_come_from_the_source(server, spec, clock, rows, fail):
    make_hot(spec, clock)
    assert is_hot(spec)
    getattr(server, fail)()
    rows[1] = Versioned(2, b"new")
    assert spec.load_many([1]) == {1: b"old"}  # a copy, not yet as old as it may get
    clock.now += LIMITS.copy_s
    assert spec.load_many([1]) == {1: b"new"}
    assert not is_hot(spec)
    began = time.monotonic()
    for _ in range(200):
        clock.now += 0.001
        assert spec.load_many([1]) == {1: b"new"}
    # Reports are as few as ever: they make nobody wait again and again for a server that hangs.
    assert time.monotonic() - began < 200 * TIMEOUT_S / 4


def test_hot_again_when_redis_is_back_empty(server, spec, clock, rows):
    make_hot(spec, clock)
    server.kill()
    clock.now += REPORT_S
    spec.load_many([1])
    assert not is_hot(spec)
    rows[1] = Versioned(2, b"new")
    server.start()
    deadline = time.monotonic() + 5
    while not is_hot(spec) and time.monotonic() < deadline:
        make_hot(spec, clock)
        assert spec.load_many([1]) == {1: b"new"}
    assert is_hot(spec)
