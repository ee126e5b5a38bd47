"""What /metrics shows of the change tables, asked of each database: also without a compensator or
Redis, which is when it matters."""

from collections import Counter
from collections.abc import Iterable
from functools import partial

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.changes.lag import LagReport, LaneLag, measure_lag
from infra.changes.lanes import group_of
from infra.sharding.placement import all_aliases
from infra.sharding.probe import CachedProbe

STATES = ("pending", "parked", "paused")


class LagCollector(Collector):
    """Two queries a database, at most every few seconds. One that is away has no series, and is not
    waited for."""

    def __init__(self, probe: CachedProbe[LagReport] | None = None) -> None:
        self._probe = probe or CachedProbe()

    def describe(self) -> Iterable[Metric]:
        """So that registering it asks nothing."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        changes, oldest, paused, up = families = _families()
        aliases = all_aliases()
        reports = self._probe.ask({alias: partial(measure_lag, alias) for alias in aliases})
        for alias in aliases:
            up.add_metric([alias], alias in reports)
        for alias, report in reports.items():
            paused.add_metric([alias], len(report.paused))
            for (group, state), count in count_by_group(report.lags).items():
                changes.add_metric([alias, group, state], count)
            for group, seconds in oldest_by_group(report.lags).items():
                oldest.add_metric([alias, group], seconds)
        return families


def count_by_group(lags: Iterable[LaneLag]) -> Counter[tuple[str, str]]:
    """Changes by group of lanes and state, those of which there are none with them."""
    counts: Counter[tuple[str, str]] = Counter()
    for lag in lags:
        for state in STATES:
            counts[group_of(lag.lane).name.lower(), state] += getattr(lag, state)
    return counts


def oldest_by_group(lags: Iterable[LaneLag]) -> dict[str, float]:
    """The age of the oldest pending change by group of lanes, in seconds; 0 without any."""
    ages: dict[str, float] = {}
    for lag in lags:
        group = group_of(lag.lane).name.lower()
        ages[group] = max(ages.get(group, 0.0), lag.oldest_s)
    return ages


def _families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily(
            "tideline_changes", "Undelivered changes", labels=["shard", "lanes", "state"]
        ),
        GaugeMetricFamily(
            "tideline_changes_oldest_seconds",
            "Age of the oldest pending change",
            labels=["shard", "lanes"],
        ),
        GaugeMetricFamily(
            "tideline_changes_paused_kinds", "Kinds of changes that are paused", labels=["shard"]
        ),
        GaugeMetricFamily("tideline_shard_up", "Whether the database answers", labels=["shard"]),
    )
