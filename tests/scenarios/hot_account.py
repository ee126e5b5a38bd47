"""One account that everybody follows at once: how often is its row written, how late is the drain?

The seed's case is 500 follows a second: 100 million followers of whom each changes their mind every
ten days, within a few hours. Threads compensate, one a shard: each of its lanes gives one batch in
`round_s`.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import quantiles
from typing import NamedTuple

from django.conf import settings

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.types import Count
from infra.changes.compensate import compensate
from infra.changes.lag import LaneLag, list_lane_lags
from tests.scenarios.background import Stop, threads
from tests.scenarios.crowd import follow_together, lay_crowd
from tests.waiting import until

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
