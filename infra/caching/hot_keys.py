"""Which keys are hot (seed S2): each process counts its reads, and once a second tells the others.

A key is hot from `reads_s` reads a second on, by all processes together, over a sliding window, and
stays so down to half of that. The request that first notices that a second has passed reports:
one round trip, no thread. A process in which nothing is read much does not report.
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
# Of the reads that make a key hot, the part one process must make to report it: what it reads less
# often it can ask Redis for.
WARM_SHARE = 20
MOST_REPORTED = 100
REPORTS = Metric("tideline_hot_key_reports_total", "Reports of what is read much", ["outcome"])
log = structlog.get_logger()


class HotKeyLimits(NamedTuple):
    """`reads_s`: reads a second that make a key hot; `copy_s`: how old a copy of it may be."""

    reads_s: int
    copy_s: float

    @property
    def warm_reads(self) -> int:
        """Reads between two reports that make a key worth reporting."""
        return max(1, self.reads_s // WARM_SHARE)


class CountedFamily(Protocol):
    """A family whose reads are counted. Names are Redis keys."""

    def take_counts(self, at_least: int) -> Mapping[bytes, int]:
        """Reads since the last call, of names with at least so many."""
        ...

    def hot_names(self) -> Collection[bytes]: ...

    def promote(self, names: Collection[bytes]) -> None:
        """These are hot, of those just taken and those that were; no others are."""
        ...


class HotKeys:
    """One per process, for all its families. `clock` is for ages, `wall` is shared by machines.

    With Redis away nothing is hot: the process asks the stores as if there were no such thing.
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
        """The time, after a report if one was due. Cost: 0.1 µs; once a second a round trip."""
        now = self.clock()
        if now >= self._due and self._reporting.acquire(blocking=False):
            try:
                self._report_when_due(now)
            finally:
                self._reporting.release()
        return now

    def is_current(self) -> bool:
        """Whether what is hot has been looked at lately. Without reads nobody does."""
        return self.clock() < self._due + WINDOW_S

    def _report_when_due(self, now: float) -> None:
        if now < self._due:  # another thread was faster
            return
        is_old = not self.is_current()
        self._due = now + REPORT_S
        warm = [family.take_counts(self.limits.warm_reads) for family in self._families]
        # What was read before a long silence is not how often it is read now.
        before = {name for family in self._families for name in family.hot_names()}
        reads = _most_read([dict.fromkeys(before, 0), *([] if is_old else warm)])
        if reads:
            self._promote(_ask(reads, self._wall()), before)

    def _promote(self, rates: Mapping[bytes, float], before: Collection[bytes]) -> None:
        starts = self.limits.reads_s
        hot = {n for n, rate in rates.items() if rate >= (starts / 2 if n in before else starts)}
        for family in self._families:
            family.promote(hot)
        for name in hot.difference(before):
            log.info("hot_keys.promoted", key=name.decode(), reads_s=round(rates[name]))


def _most_read(families: Collection[Mapping[bytes, int]]) -> dict[bytes, int]:
    reads: Counter[bytes] = Counter()
    for family in families:
        reads.update(family)
    return {name: reads[name] for name in nlargest(MOST_REPORTED, reads, key=reads.__getitem__)}


def _ask(reads: Mapping[bytes, int], wall_s: float) -> Mapping[bytes, float]:
    """Reads a second by all processes; none with Redis away."""
    try:
        rates = add_reads(reads, wall_s)
    except RedisError:
        REPORTS.labels("failed").inc()
        return {}
    REPORTS.labels("sent").inc()
    return rates


HOT_KEYS = HotKeys(HotKeyLimits(settings.HOT_KEY_READS, settings.HOT_COPY_MS / 1000))
