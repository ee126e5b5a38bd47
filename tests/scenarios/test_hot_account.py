"""Seed S0: hundreds of changes a second of one count are a few writes a second of its row.

The seed's size: HOT_FOLLOWS_PER_S=500 HOT_SECONDS=60 pytest tests/scenarios/test_hot_account.py -s

One account that everybody follows at once: how often is its row written, how late is the drain?

The seed's case is 500 follows a second: 100 million followers of whom each changes their mind every
ten days, within a few hours. Threads compensate, one a shard: each of its lanes gives one batch in
`round_s`.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import quantiles
from typing import NamedTuple

import pytest
from django.conf import settings

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.types import Count
from infra.changes.compensate import compensate
from infra.changes.lag import LaneLag, list_lane_lags
from tests.scenarios.background import Stop, threads
from tests.scenarios.crowd import follow_together, lay_crowd
from tests.truth import assert_drained_truth
from tests.waiting import until
from tests.world import make_account

TICK_S = 0.1


class Report(NamedTuple):
    """`writes`: of the row that counts the account's followers."""

    follows: int
    seconds: float
    writes: int
    lag_p50_s: float
    lag_p99_s: float
    most_lag_s: float
    most_lag_rows: int
    caught_up_s: float
    longest_round_s: float

    @property
    def writes_per_s(self) -> float:
        return self.writes / (self.seconds + self.caught_up_s)

    @property
    def follows_per_s(self) -> float:
        return self.follows / self.seconds


def run(account_id: int, follows_per_s: int, seconds: int, round_s: float) -> Report:
    """Many follows in a transaction, to come to the pace asked for."""
    crowd = lay_crowd(follows_per_s * seconds)
    share = follows_per_s / len(crowd)
    calls = [partial(follow_at, a, ids, account_id, share) for a, ids in crowd.items()]

    def follow_all() -> int:
        with threads(calls):
            return sum(map(len, crowd.values()))

    return watched(account_id, follow_all, round_s)


def watched(account_id: int, follow_all: Callable[[], int], round_s: float) -> Report:
    """Follows, drains meanwhile and looks; returns when all is delivered."""
    before, stop = followers_of(account_id), Stop()
    lags: list[tuple[float, int]] = []
    rounds_s: list[float] = []
    drainers = [
        partial(drain_for_ever, alias, round_s, rounds_s, stop) for alias in settings.SHARD_ALIASES
    ]
    with threads([*drainers, partial(watch, lags, stop)], stop):
        began_s = time.monotonic()
        follows = follow_all()
        followed_s = time.monotonic()
        until_drained()
        drained_s = time.monotonic()
    writes = followers_of(account_id).version - before.version
    seconds, rows = zip(*lags, strict=True)
    percentiles = quantiles(seconds, n=100)
    return Report(
        follows,
        followed_s - began_s,
        writes,
        percentiles[49],
        percentiles[98],
        max(seconds),
        max(rows),
        drained_s - followed_s,
        max(rounds_s),
    )


def follow_at(alias: str, ids: Sequence[int], account_id: int, follows_per_s: float) -> None:
    """At the pace asked for, some every TICK_S; or as fast as it goes."""
    began_s, size = time.monotonic(), max(int(follows_per_s * TICK_S), 1)
    for start in range(0, len(ids), size):
        follow_together(alias, ids[start : start + size], account_id)
        time.sleep(max(began_s + (start + size) / follows_per_s - time.monotonic(), 0))


def drain_for_ever(alias: str, round_s: float, rounds_s: list[float], stop: Stop) -> None:
    """A round every `round_s`, or as soon as one is done; tells how long each took."""
    while not stop.is_set():
        began = time.monotonic()
        for _ in compensate(alias):
            pass
        stop.wait(max(began + round_s - time.monotonic(), 0))
        rounds_s.append(time.monotonic() - began)


def watch(lags: list[tuple[float, int]], stop: Stop) -> None:
    while not stop.wait(TICK_S):
        now = waiting()
        lags.append((max(lag.oldest_s for lag in now), sum(lag.pending for lag in now)))


def waiting() -> list[LaneLag]:
    return [lag for alias in settings.SHARD_ALIASES for lag in list_lane_lags(alias)]


def until_drained() -> None:
    until(lambda: not any(lag.pending for lag in waiting()))


def followers_of(account_id: int) -> Count:
    return load_counts([account_id])[account_id][CounterKind.FOLLOWERS]


FOLLOWS_PER_S = int(os.environ.get("HOT_FOLLOWS_PER_S", "200"))
SECONDS = int(os.environ.get("HOT_SECONDS", "3"))
ROUND_S = float(os.environ.get("HOT_ROUND_S", "1"))
# A change waits for the round in hand and is in the next one, and once more where it has failed.
# A crowded machine has longer rounds.
MOST_ROUNDS = 4


@pytest.mark.slow
@pytest.mark.timeout(900 + 5 * SECONDS)
def test_everybody_follows_one_account(world):
    star = make_account()
    report = run(star, FOLLOWS_PER_S, SECONDS, ROUND_S)
    assert report.follows == FOLLOWS_PER_S * SECONDS
    sys.stdout.write(f"{report}, {report.follows_per_s:.0f} follows/s,")
    sys.stdout.write(f" {report.writes_per_s:.1f} writes/s of the account's row\n")
    assert followers_of(star).value == report.follows
    assert report.most_lag_s < MOST_ROUNDS * report.longest_round_s
    # One for each batch, however many follows it has: a lane of a shard gives one a round.
    batches = len(settings.SHARD_ALIASES) * settings.CHANGE_LANES
    rounds = (report.seconds + report.caught_up_s) / ROUND_S + 2
    assert report.writes <= batches * rounds
    assert report.writes < report.follows / 5
    assert_drained_truth()
