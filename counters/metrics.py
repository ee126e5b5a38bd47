"""What /metrics shows of counts. Any web process has it, for all compensators."""

from collections.abc import Iterable

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from counters.sampling import DRIFT


class DriftCollector(Collector):
    """Read from Redis when somebody looks: one round trip. Without Redis there are no series."""

    def describe(self) -> Iterable[Metric]:
        """So that registering it asks nothing."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        drift, sampled_at = families = _families()
        try:
            found = DRIFT.read(settings.SHARD_ALIASES)
        except RedisError:
            return []
        for alias, one in found.items():
            drift.add_metric([alias], sum(one.wrong.values()))
            sampled_at.add_metric([alias], one.at_s)
        return families


def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
    return (
        GaugeMetricFamily(
            "tideline_counter_drift",
            "Counts that samples found to differ from their rows, and that still do",
            labels=["shard"],
        ),
        GaugeMetricFamily(
            "tideline_counter_sampled_at_seconds",
            "When counts of the shard were last sampled, in Unix seconds",
            labels=["shard"],
        ),
    )
