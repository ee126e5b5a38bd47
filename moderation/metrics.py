"""What /metrics shows of moderation as the compensator saw it last: the queue, and the acts."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.sharding.placement import GLOBAL_ALIAS
from moderation.decision_counts import read_decision_counts
from moderation.sampling import QUEUE
from moderation.types import DecisionKind


class QueueCollector(Collector):
    """Read from Redis when somebody looks: one round trip. Without Redis there are no series."""

    def __init__(self, clock_s: Callable[[], float] = time.time) -> None:
        self._clock_s = clock_s

    def describe(self) -> Iterable[Metric]:
        """So that registering it asks nothing."""
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
    """As QueueCollector. Of acts of all processes, of commands too; a kind nobody did is 0."""

    def describe(self) -> Iterable[Metric]:
        return [_decisions()]

    def collect(self) -> Iterable[Metric]:
        acts = _decisions()
        with suppress(RedisError):
            found = read_decision_counts()
            for act in DecisionKind if found.is_whole else ():
                acts.add_metric([act], found.counts.get(act, 0))
        return [acts]


def _decisions() -> CounterMetricFamily:
    return CounterMetricFamily(
        "tideline_moderation_decisions", "What moderators and commands did", labels=["kind"]
    )


def _families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily("tideline_reports_open", "Reports that nobody has resolved"),
        GaugeMetricFamily("tideline_reports_oldest_seconds", "Age of the oldest of them"),
        GaugeMetricFamily("tideline_appeals_open", "Appeals that nobody has decided"),
        GaugeMetricFamily(
            "tideline_restricted_accounts",
            "Accounts by what they are restricted to; one may count several times",
            labels=["restriction"],
        ),
    )
