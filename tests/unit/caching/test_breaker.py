"""The breaker: one asks, the others rest, and all go on when an answer came."""

import threading

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import breaker
from infra.caching.breaker import Breaker
from tests.waiting import PATIENCE_S


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(breaker, "time", clock := Clock())
    return clock


def is_open(one):
    try:
        one.check()
    except RedisConnectionError:
        return False
    return True


def test_lets_everything_through_at_first():
    assert is_open(Breaker())


def test_after_a_failure_nobody_asks_for_a_second(clock):
    one = Breaker()
    one.trip()
    assert not is_open(one)
    clock.now += 0.99
    assert not is_open(one)


def test_then_one_asks_and_the_others_rest(clock):
    one = Breaker()
    one.trip()
    clock.now += 1.01
    through = []
    ready = threading.Barrier(8, timeout=PATIENCE_S)

    def ask():
        ready.wait()
        through.append(is_open(one))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(through) == [False] * 7 + [True]
    clock.now += 1.01
    assert is_open(one)


def test_an_answer_lets_all_through_again(clock):
    one = Breaker()
    one.trip()
    clock.now += 1.01
    one.check()
    one.reset()
    assert is_open(one)
    assert is_open(one)
