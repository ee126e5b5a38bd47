"""Gauges of single processes, how `/metrics` combines them, and the registry of store metrics."""

from collections.abc import Sequence
from typing import Literal

from prometheus_client import CollectorRegistry, Gauge

Combination = Literal["sum", "max", "min"]

# The gauges of prometheus_client itself come with a role label.
_combinations: dict[str, Combination] = {
    "process_resident_memory_bytes": "sum",
    "process_open_fds": "sum",
}

# Collectors that query the stores at each scrape. Their values belong to no process.
STORE_METRICS = CollectorRegistry()


def process_gauge(
    name: str, text: str, labels: Sequence[str] = (), *, combine: Combination = "max"
) -> Gauge:
    """A gauge of each process; `/metrics` shows one value for all live processes."""
    _combinations[name] = combine
    return Gauge(name, text, labels)


def combination_of(name: str) -> Combination:
    """The largest value for a gauge of a module or a release that only other processes have."""
    return _combinations.get(name, "max")
