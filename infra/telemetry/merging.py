"""Many processes' snapshots as one page: counts add up, gauges as each of them says."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from infra.telemetry.gauges import Together, how_together
from infra.telemetry.snapshots import MetricFamily, MetricSample, Snapshot

Series = tuple[str, frozenset[tuple[str, str]]]
_WAYS: Mapping[Together, Callable[[Iterable[float]], float]] = {"sum": sum, "max": max, "min": min}


def merge(living: Sequence[Snapshot], dead: Snapshot | None) -> list[Metric]:
    """By name. Of the dead only counts: they go on, or rates would see a restart as traffic."""
    counted = [family for one in living for family in one.families]
    counted += add_up(dead) if dead else []
    names = sorted({family.name for family in counted})
    metrics = [_merge_family([one for one in counted if one.name == name]) for name in names]
    return [*metrics, _count_processes(living)]


def add_up(*snapshots: Snapshot) -> list[MetricFamily]:
    """Counters and histograms of all of them, without gauges."""
    families: dict[str, list[MetricFamily]] = {}
    for family in (family for one in snapshots for family in one.families):
        if family.kind != "gauge":
            families.setdefault(family.name, []).append(family)
    return [
        MetricFamily(name, same[-1].kind, same[-1].text, _together(same, "sum"))
        for name, same in families.items()
    ]


def _merge_family(same: Sequence[MetricFamily]) -> Metric:
    """`same`: of one name. What kind it is the last one says: after an upgrade they may differ."""
    name, kind, text, _ = same[-1]
    metric = Metric(name, text, kind)
    of_kind = [family for family in same if family.kind == kind]
    for sample in _together(of_kind, how_together(name) if kind == "gauge" else "sum"):
        metric.add_sample(*sample)
    return metric


def _together(same: Iterable[MetricFamily], way: Together) -> list[MetricSample]:
    values: dict[Series, list[float]] = {}
    for sample in (sample for family in same for sample in family.samples):
        series = (sample.name, frozenset(sample.labels.items()))
        values.setdefault(series, []).append(sample.value)
    return [
        MetricSample(name, dict(labels), _WAYS[way](found))
        for (name, labels), found in values.items()
    ]


def _count_processes(living: Sequence[Snapshot]) -> Metric:
    metric = GaugeMetricFamily(
        "tideline_processes", "Processes of this machine, by what they are", labels=["role"]
    )
    for role, count in sorted(Counter(one.role for one in living).items()):
        metric.add_metric([role], count)
    return metric
