"""What /metrics shows of reports: gauges per shard, in any web process, for all compensators."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.caching.database_reports import DatabaseReports, R


class ReportGauge(NamedTuple, Generic[R]):
    """One gauge: its name, what it says, and how it is read out of a report."""

    name: str
    text: str
    value_of: Callable[[R], float]


class ReportCollector(Collector, Generic[R]):
    """Read from Redis when somebody looks: one round trip. Without Redis there are no series."""

    def __init__(self, reports: DatabaseReports[R], shown: Sequence[ReportGauge[R]]) -> None:
        self._reports, self._shown = reports, shown

    def describe(self) -> list[GaugeMetricFamily]:
        """So that registering it asks nothing."""
        return [GaugeMetricFamily(one.name, one.text, labels=["shard"]) for one in self._shown]

    def collect(self) -> Iterable[Metric]:
        try:
            found = self._reports.read(settings.SHARD_ALIASES)
        except RedisError:
            return []
        families = self.describe()
        for family, one in zip(families, self._shown, strict=True):
            for alias, report in found.items():
                family.add_metric([alias], one.value_of(report))
        return families
