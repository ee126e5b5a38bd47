"""What /metrics shows of live timelines. Any web process has it, for all compensators."""

from collections.abc import Iterable

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from timelines.sampling import HOLES


class HolesCollector(Collector):
    """Read from Redis when somebody looks: one round trip. Without Redis there are no series."""

    def describe(self) -> Iterable[Metric]:
        """So that registering it asks nothing."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        holes, complete, sampled_at = families = _families()
        try:
            found = HOLES.read(settings.SHARD_ALIASES)
        except RedisError:
            return []
        for alias, one in found.items():
            holes.add_metric([alias], sum(one.holes.values()))
            complete.add_metric([alias], one.complete_ratio)
            sampled_at.add_metric([alias], one.at_s)
        return families


def _families() -> tuple[GaugeMetricFamily, ...]:
    return tuple(
        GaugeMetricFamily(name, text, labels=["shard"])
        for name, text in (
            ("tideline_timeline_holes", "Entries that live timelines lack, as samples found it"),
            (
                "tideline_timeline_complete_ratio",
                "Share of the entries that the timelines last sampled have, of what they should",
            ),
            (
                "tideline_timeline_sampled_at_seconds",
                "When timelines of the shard were last sampled, in Unix seconds",
            ),
        )
    )
