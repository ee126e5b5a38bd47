"""The metrics of moderation: the queue and the decisions, as the last samples in Redis say."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.sharding.placement import GLOBAL_ALIAS
from moderation.sampling import QUEUE, read_decision_counts
from moderation.types import DecisionKind


class QueueCollector(Collector):
    """Reads the last sample at each scrape: one round trip. Without Redis there are no series."""

    def __init__(self, clock_s: Callable[[], float] = time.time) -> None:
        self._clock_s = clock_s

    def describe(self) -> Iterable[Metric]:
        """The names of the series; registering the collector then reads nothing from Redis."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        reports, oldest, appeals, restricted = families = _families()
        try:
            queue = QUEUE.read([GLOBAL_ALIAS]).get(GLOBAL_ALIAS)
        except RedisError:
            return []
        if queue is None:
            return []
        since_s = queue.oldest_report_at_s
        reports.add_metric([], queue.open_reports)
        oldest.add_metric([], 0 if since_s is None else max(self._clock_s() - since_s, 0))
        appeals.add_metric([], queue.pending_appeals)
        for name, count in queue.restricted.items():
            restricted.add_metric([name], count)
        return families


class DecisionsCollector(Collector):
    """The decisions of all processes and commands by kind, from the last sample, as above.

    A kind without decisions is 0.
    """

    def describe(self) -> Iterable[Metric]:
        return [_decisions()]

    def collect(self) -> Iterable[Metric]:
        decisions = _decisions()
        with suppress(RedisError):
            counts = read_decision_counts()
            for kind in DecisionKind if counts.is_whole else ():
                decisions.add_metric([kind], counts.counts.get(kind, 0))
        return [decisions]


def _decisions() -> CounterMetricFamily:
    return CounterMetricFamily(
        "tideline_moderation_decisions", "Decisions of moderators and commands", labels=["kind"]
    )


def _families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily("tideline_reports_open", "Reports that are not resolved"),
        GaugeMetricFamily(
            "tideline_reports_oldest_seconds", "Age of the oldest of them; 0 without any"
        ),
        GaugeMetricFamily("tideline_appeals_open", "Appeals without a decision"),
        GaugeMetricFamily(
            "tideline_restricted_accounts",
            "Limited, frozen, suspended (not purged yet), purged accounts",
            labels=["restriction"],
        ),
    )
