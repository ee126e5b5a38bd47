"""The metrics of changes: what this process delivered, and what waits in the change tables.

The collector asks each database at a scrape, so it works without a compensator and without Redis.
"""

from collections import Counter as Tally
from collections.abc import Iterable
from functools import partial

from prometheus_client import Counter, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.changes.lag import LagReport, LaneLag, measure_lag
from infra.changes.lanes import group_of
from infra.sharding.probe import CachedProbe
from infra.sharding.shards import all_aliases

DELIVERED = Counter("tideline_changes_delivered_total", "Changes delivered", ["kind"])
FAILED = Counter("tideline_changes_failed_total", "Attempts that failed", ["kind"])
STATES = ("pending", "parked", "paused")


def count_delivered(kinds: Iterable[str]) -> None:
    _add(DELIVERED, kinds)


def count_failed(kinds: Iterable[str]) -> None:
    _add(FAILED, kinds)


def _add(counter: Counter, kinds: Iterable[str]) -> None:
    for kind, count in Tally(kinds).items():
        counter.labels(kind).inc(count)


class LagCollector(Collector):
    """Shows the lag of every database that answers in time; the others have no series.

    Cost: two queries a database, at most once in a few seconds.
    """

    def __init__(self, probe: CachedProbe[LagReport] | None = None) -> None:
        self._probe = probe or CachedProbe()

    def describe(self) -> Iterable[Metric]:
        """The families without samples, so that registering the collector makes no query."""
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


def count_by_group(lags: Iterable[LaneLag]) -> Tally[tuple[str, str]]:
    """Changes by group of lanes and state. States without changes count 0."""
    counts: Tally[tuple[str, str]] = Tally()
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
            "tideline_changes",
            (
                "Undelivered changes: `pending`, `parked`, `paused`; lanes `ordinary`, `bulk`, "
                "`waiting`, `imported`, `folded`, `outside`"
            ),
            labels=["shard", "lanes", "state"],
        ),
        GaugeMetricFamily(
            "tideline_changes_oldest_seconds",
            "Age of the oldest pending change",
            labels=["shard", "lanes"],
        ),
        GaugeMetricFamily(
            "tideline_changes_paused_kinds", "Kinds that are paused", labels=["shard"]
        ),
        GaugeMetricFamily(
            "tideline_shard_up", "1 if the database answered within a second", labels=["shard"]
        ),
    )
