"""A rate that all processes keep together; with Redis away each keeps it for itself."""

import time
from functools import partial
from unittest.mock import patch

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.client import SingleClient, redis
from infra.caching.rates import BURST_S, LocalRate, Rate
from tests.clocks import Clock
from tests.races import run_together

PER_S = 200


@pytest.fixture
def away():
    with patch.object(SingleClient, "run", side_effect=RedisConnectionError):
        yield


def take_some(rate: Rate, count: int) -> None:
    """Asks again and again, until so many steps were let through."""
    for _ in range(count):
        while rate.take():
            pass


def test_processes_together_keep_the_rate(world):
    """Those that are let through take as long as the rate says, or longer on a crowded machine."""
    rates = [Rate("test", PER_S) for _ in range(8)]
    began = time.monotonic()
    answers = run_together(partial(take_some, rate, PER_S // 16) for rate in rates)
    lasted = time.monotonic() - began
    assert answers == [None] * 8
    assert PER_S * (lasted + BURST_S) + 1 >= PER_S // 16 * 8


def test_who_waits_as_long_as_told_is_let_through(world):
    rate = Rate("test", 20)
    while not (wait_s := rate.take()):
        pass
    assert 0 < wait_s <= 1 / 20
    time.sleep(wait_s)  # as told
    assert rate.take() == 0.0


def test_what_is_refused_does_not_count(world):
    rate = Rate("test", 20)
    waits = [rate.take() for _ in range(100)]
    assert max(waits) <= 1 / 20


def test_rates_of_other_names_do_not_meet(world):
    slow = Rate("slow", 0.001)
    assert slow.take() == 0.0
    assert slow.take() > 500
    assert Rate("other", 0.001).take() == 0.0


def test_a_rate_nobody_used_leaves_nothing(world):
    rate = Rate("test", 0.01)
    rate.take()
    ((key, left),) = [(k, redis().call("PTTL", k)) for k in redis().call("KEYS", "infra.rate*")]
    assert key == b"infra.rate:v1:{test}"
    assert 0 < left <= 100_000 + 1_000


def test_without_redis_each_process_keeps_it(world, away):
    clock = Clock()
    rate = Rate("test", PER_S, clock)
    taken = 0
    for _ in range(1_000):  # ten times the rate, for half a second
        clock.now += 0.5 / 1_000
        taken += not rate.take()
    assert PER_S * 0.5 <= taken <= PER_S * (0.5 + BURST_S) + 1


def test_local_rate_of_one_step_in_ten_seconds():
    clock = Clock()
    rate = LocalRate(10, 0, clock)
    assert [rate.take() for _ in range(3)] == [0.0, 10.0, 10.0]
    clock.now += 9.5
    assert rate.take() == pytest.approx(0.5)
    clock.now += 0.5
    assert rate.take() == 0.0
