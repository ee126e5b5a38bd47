"""Snapshots: what one process counted, as it is stored for the others, and the sum of several.

{"role": "web", "families": [[name, kind, text, [[sample, labels, value], …]], …]}, in MessagePack,
because JSON has no NaN.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from prometheus_client import REGISTRY, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.telemetry.gauges import Combination, combination_of

PREFIX = "tideline_"
# The metrics of prometheus_client about the process itself. They get a role label, because a sum
# over all roles would say nothing.
PROCESS_METRICS = frozenset(
    {"process_cpu_seconds", "process_resident_memory_bytes", "process_open_fds"}
)
Series = tuple[str, frozenset[tuple[str, str]]]
_COMBINE: Mapping[Combination, Callable[[Iterable[float]], float]] = {
    "sum": sum, "max": max, "min": min,
}  # fmt: skip


class MetricSample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


class MetricFamily(NamedTuple):
    """`kind`: counter, gauge or histogram. `name`: for a counter without its `_total`."""

    name: str
    kind: str
    text: str
    samples: list[MetricSample]


class Snapshot(msgspec.Struct):
    """`role`: web, streaming, worker, compensator or command."""

    role: str
    families: list[MetricFamily]


def take_snapshot(role: str, registry: Collector = REGISTRY) -> Snapshot:
    """What this process counted until now."""
    families = (_read_metric(metric, role) for metric in registry.collect())
    return Snapshot(role, [family for family in families if family])


def encode(snapshot: Snapshot) -> bytes:
    return msgspec.msgpack.encode(snapshot)


def decode(body: bytes) -> Snapshot:
    """Raises msgspec.MsgspecError."""
    return msgspec.msgpack.decode(body, type=Snapshot)


def merge_snapshots(live: Sequence[Snapshot], ended: Snapshot | None) -> list[Metric]:
    """One metric per name. Ended processes add their counts, but no gauges.

    Without the counts of ended processes a restart would look like traffic to Prometheus.
    """
    families = [family for snapshot in live for family in snapshot.families]
    families += add_up(ended) if ended else []
    names = sorted({family.name for family in families})
    metrics = [
        _merge_families([family for family in families if family.name == name]) for name in names
    ]
    return [*metrics, _count_processes(live)]


def add_up(*snapshots: Snapshot) -> list[MetricFamily]:
    """The sums of the counters and histograms of these snapshots, without gauges."""
    families: dict[str, list[MetricFamily]] = {}
    for family in (family for snapshot in snapshots for family in snapshot.families):
        if family.kind != "gauge":
            families.setdefault(family.name, []).append(family)
    return [
        MetricFamily(name, same[-1].kind, same[-1].text, _combine_samples(same, "sum"))
        for name, same in families.items()
    ]


def _read_metric(metric: Metric, role: str) -> MetricFamily | None:
    if metric.name in PROCESS_METRICS:
        more = {"role": role}
    elif metric.name.startswith(PREFIX):
        more = {}
    else:
        return None
    samples = [*_read_samples(metric, more)]
    return MetricFamily(metric.name, metric.type, metric.documentation, samples)


def _read_samples(metric: Metric, more: dict[str, str]) -> Iterable[MetricSample]:
    """Without the creation times of counters: a sum of times says nothing."""
    for sample in metric.samples:
        if not sample.name.endswith("_created"):
            yield MetricSample(sample.name, {**sample.labels, **more}, sample.value)


def _merge_families(same: Sequence[MetricFamily]) -> Metric:
    """All have one name. After an upgrade their kinds may differ: the last one decides."""
    name, kind, text, _ = same[-1]
    metric = Metric(name, text, kind)
    of_kind = [family for family in same if family.kind == kind]
    combination = combination_of(name) if kind == "gauge" else "sum"
    for sample in _combine_samples(of_kind, combination):
        metric.add_sample(*sample)
    return metric


def _combine_samples(same: Iterable[MetricFamily], combination: Combination) -> list[MetricSample]:
    values: dict[Series, list[float]] = {}
    for sample in (sample for family in same for sample in family.samples):
        series = (sample.name, frozenset(sample.labels.items()))
        values.setdefault(series, []).append(sample.value)
    combine = _COMBINE[combination]
    return [
        MetricSample(name, dict(labels), combine(numbers))
        for (name, labels), numbers in values.items()
    ]


def _count_processes(live: Sequence[Snapshot]) -> Metric:
    metric = GaugeMetricFamily(
        "tideline_processes", "Web, streaming, worker, compensator", labels=["role"]
    )
    for role, count in sorted(Counter(snapshot.role for snapshot in live).items()):
        metric.add_metric([role], count)
    return metric
