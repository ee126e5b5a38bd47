"""The last report of the compensators about each database: one JSON value each, in Redis.

Every web process can show the reports as gauges, and any compensator can continue for another one.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.sharding.placement import known_shards

R = TypeVar("R", bound=msgspec.Struct)


class DatabaseReports(Generic[R]):
    """Reports of one kind. A lost report is written again soon. All methods raise RedisError."""

    def __init__(self, family: str, kind: type[R], ttl_s: int) -> None:
        self._family, self._ttl_s = family, ttl_s
        self._decoder = msgspec.json.Decoder(kind)

    def read(self, aliases: Sequence[str]) -> dict[str, R]:
        """The reports of at most `ttl_s` ago, by database. Cost: one round trip."""
        replies = redis().run([("GET", key(self._family, alias)) for alias in aliases])
        reports = ((alias, self._decode(raw)) for alias, raw in zip(aliases, replies, strict=True))
        return {alias: report for alias, report in reports if report is not None}

    def _decode(self, raw: bytes | None) -> R | None:
        return decode(self._family, self._decoder.decode, raw)

    def store(self, alias: str, report: R) -> None:
        raw = msgspec.json.encode(report)
        redis().call("SET", key(self._family, alias), raw, "EX", self._ttl_s)


class ReportGauge(NamedTuple, Generic[R]):
    """One gauge: its name, its help text, and how its value is read from a report."""

    name: str
    text: str
    value_of: Callable[[R], float]


class ReportCollector(Collector, Generic[R]):
    """Gauges per shard, read from Redis at each scrape. Without Redis there are no series."""

    def __init__(self, reports: DatabaseReports[R], gauges: Sequence[ReportGauge[R]]) -> None:
        self._reports, self._gauges = reports, gauges

    def describe(self) -> list[GaugeMetricFamily]:
        """The names alone, so that registering the collector does not call Redis."""
        return [
            GaugeMetricFamily(gauge.name, gauge.text, labels=["shard"]) for gauge in self._gauges
        ]

    def collect(self) -> Iterable[Metric]:
        try:
            reports = self._reports.read(known_shards())
        except RedisError:
            return []
        families = self.describe()
        for family, gauge in zip(families, self._gauges, strict=True):
            for alias, report in reports.items():
                family.add_metric([alias], gauge.value_of(report))
        return families
