"""Gauges of single processes, how `/metrics` combines them, and the registry of store metrics.

Faster ways to count in one series of the Prometheus library, for each request's path.

The library checks each time that the series has its labels, and searches the bucket of a value
from the first one on. Here this is done once. The counts stay the library's: each is under its
lock, so threads lose none, and `/metrics` shows the same.

Safety: these are attributes that the library does not promise. Its version is pinned, and
tests/unit/telemetry/test_series.py compares both ways.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

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


Add = Callable[[float], None]


def adder(series: Counter) -> Add:
    """What `series.inc` does for an amount that is not negative. `series`: with its labels."""
    add: Add = series._value.inc
    return add


def observer(series: Histogram) -> Add:
    """What `series.observe` does. `series`: with its labels."""
    bounds, add_to_sum = series._upper_bounds, series._sum.inc
    buckets = [bucket.inc for bucket in series._buckets]

    def observe(amount: float) -> None:
        add_to_sum(amount)
        buckets[bisect_left(bounds, amount)](1)

    return observe
