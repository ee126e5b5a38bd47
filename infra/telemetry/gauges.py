"""Gauges of single processes, and what all processes of a machine together show of each."""

from collections.abc import Sequence
from typing import Literal

from prometheus_client import Gauge

Together = Literal["sum", "max", "min"]

# Those of prometheus_client's own come labelled by role.
_together: dict[str, Together] = {
    "process_resident_memory_bytes": "sum",
    "process_open_fds": "sum",
}


def process_gauge(
    name: str, text: str, labels: Sequence[str] = (), *, together: Together = "max"
) -> Gauge:
    """A gauge that every process has for itself; /metrics shows one value of all that live."""
    _together[name] = together
    return Gauge(name, text, labels)


def how_together(name: str) -> Together:
    """Raises KeyError: a gauge that was made in another way."""
    return _together[name]
