"""Finds hot keys (seed S2): each process counts its reads and reports them once a second.

A key becomes hot at `reads_s` reads a second of all processes together, over a sliding window. It
stays hot until the rate falls below half of that. The first request after a second has passed sends
the report: one round trip, no thread. A process that reads no key often sends nothing.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from heapq import nlargest
from typing import NamedTuple, Protocol

import structlog
from django.conf import settings
from prometheus_client import Counter as Metric
from redis.exceptions import RedisError

from infra.caching.fleet_reads import WINDOW_S, add_reads

REPORT_S = 1.0
# A process reports a key from 1/WARM_SHARE of the hot rate on. What it reads less often it can read
# from Redis.
WARM_SHARE = 20
MOST_REPORTED = 100
REPORTS = Metric("tideline_hot_key_reports_total", "Reports of frequently read keys", ["outcome"])
log = structlog.get_logger()


class HotKeyLimits(NamedTuple):
    """`reads_s`: reads a second that make a key hot. `copy_s`: age limit of its copies."""

    reads_s: int
    copy_s: float

    @property
    def warm_reads(self) -> int:
        """Reads between two reports from which on a key is reported."""
        return max(1, self.reads_s // WARM_SHARE)


class CountedFamily(Protocol):
    """A family that counts its reads. Names are Redis keys."""

    def take_counts(self, at_least: int) -> Mapping[bytes, int]:
        """Reads since the last call, of names with at least this many."""
        ...

    def hot_names(self) -> Collection[bytes]: ...

    def promote(self, names: Collection[bytes]) -> None:
        """From now on these names are hot, and no others."""
        ...


class HotKeys:
    """One per process, for all its families. `clock` measures ages, `wall` is the time of day.

    Without Redis no key is hot, and every read goes to the stores.
    """

    def __init__(
        self,
        limits: HotKeyLimits,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits
        self.clock = clock
        self._wall = wall
        self._families: list[CountedFamily] = []
        self._due = clock() + REPORT_S
        self._reporting = threading.Lock()

    def watch(self, family: CountedFamily) -> None:
        self._families.append(family)

    def tick(self) -> float:
        """The time by `clock`. Cost: once a second a round trip for the report."""
        now = self.clock()
        if now >= self._due and self._reporting.acquire(blocking=False):
            try:
                self._report_when_due(now)
            finally:
                self._reporting.release()
        return now

    def is_current(self) -> bool:
        """Whether the set of hot keys was updated lately. Without reads it is not."""
        return self.clock() < self._due + WINDOW_S

    def _report_when_due(self, now: float) -> None:
        if now < self._due:  # another thread was faster
            return
        is_old = not self.is_current()
        self._due = now + REPORT_S
        warm = [family.take_counts(self.limits.warm_reads) for family in self._families]
        # Counts from before a long pause are not the present rate.
        before = {name for family in self._families for name in family.hot_names()}
        reads = _most_read([dict.fromkeys(before, 0), *([] if is_old else warm)])
        if reads:
            self._promote(_report(reads, self._wall()), before)

    def _promote(self, rates: Mapping[bytes, float], before: Collection[bytes]) -> None:
        limit = self.limits.reads_s
        hot = {n for n, rate in rates.items() if rate >= (limit / 2 if n in before else limit)}
        for family in self._families:
            family.promote(hot)
        for name in hot.difference(before):
            log.info("hot_keys.promoted", key=name.decode(), reads_s=round(rates[name]))


def _most_read(families: Collection[Mapping[bytes, int]]) -> dict[bytes, int]:
    reads: Counter[bytes] = Counter()
    for family in families:
        reads.update(family)
    return {name: reads[name] for name in nlargest(MOST_REPORTED, reads, key=reads.__getitem__)}


def _report(reads: Mapping[bytes, int], wall_s: float) -> Mapping[bytes, float]:
    """Reads a second by all processes; {} without Redis."""
    try:
        rates = add_reads(reads, wall_s)
    except RedisError:
        REPORTS.labels("failed").inc()
        return {}
    REPORTS.labels("sent").inc()
    return rates


HOT_KEYS = HotKeys(HotKeyLimits(settings.HOT_KEY_READS, settings.HOT_COPY_MS / 1000))
