"""Metrics: what each says, as `/metrics` says it in its HELP lines."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from prometheus_client import REGISTRY

from infra.telemetry.gauges import STORE_METRICS
from lab.reference.commands import pages_of_commands
from lab.reference.tables import table

# With those that they import, all that the processes can show.
MODULES = (
    "config.urls",
    "config.periodic",
    "accounts.password_hasher",
    "infra.changes.drainer",
    "infra.processes.reporter",
    "web.streaming.metrics",
    "web.middleware",
    "web.serving.refusals",
    "web.serving.shared_queue",
)
OF_PROCESSES = {
    "tideline_processes": "Live processes: web, streaming, worker, compensator",
    "process_cpu_seconds_total": "Their CPU time",
    "process_resident_memory_bytes": "Their memory",
    "process_open_fds": "Their open files",
}


class ExportedMetric(NamedTuple):
    """`labels`: their names, in their order."""

    name: str
    labels: tuple[str, ...]
    says: str


def exported() -> list[ExportedMetric]:
    """All that the processes can show, by name."""
    for module in MODULES:
        import_module(module)
    ours = [metric for metric in _registered() if metric.name.startswith("tideline_")]
    return sorted(ours) + [ExportedMetric(n, ("role",), text) for n, text in OF_PROCESSES.items()]


def _registered() -> Iterator[ExportedMetric]:
    for collector in {*REGISTRY._collector_to_names, *STORE_METRICS._collector_to_names}:
        describe: Any = getattr(collector, "describe", list)
        for metric in describe():
            labels = getattr(collector, "_labelnames", ()) or getattr(metric, "_labelnames", ())
            name = metric.name + ("_total" if metric.type == "counter" else "")
            yield ExportedMetric(name, tuple(labels), metric.documentation)


def metric_rows() -> str:
    pages = pages_of_commands()
    rows = [
        f"| `{name}` | {' '.join(f'`{label}`' for label in labels)} | {_linked(says, pages)} |"
        for name, labels, says in exported()
    ]
    return table("| metric | labels | says |", rows)


def _linked(text: str, pages: Mapping[str, str]) -> str:
    """Names of commands lead to them."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return (
            f"[`{name}`](commands/{pages[name]}#{name.replace(' ', '-')})"
            if name in pages
            else match[0]
        )

    return re.sub(r"`(\w+(?: [\w-]+)?)`", link, text)
