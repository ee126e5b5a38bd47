"""All workloads by name. Import it when the settings know the servers."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lab.bench import (
    caches,
    calls,
    cluster,
    deliveries,
    fan_out,
    flash_crowd,
    increments,
    linkbench,
    pull,
    reads,
    streams,
    writes,
)
from lab.bench.first_reads import measure as first_reads
from lab.bench.mix import measure as mix
from lab.bench.peers import measure as peers

Measure = Callable[[], Mapping[str, Any]]
# Of the flash crowd: within the capacity of two cores.
FOLLOWS_PER_S = 20.0


def workloads(graph: Path | None, accounts: int, seconds: float) -> Mapping[str, Measure]:
    return {
        "reads": partial(reads.measure, graph, accounts, seconds),
        "first_reads": partial(first_reads.measure, accounts),
        "cluster": partial(cluster.measure, accounts),
        "mix": partial(mix.measure, graph, accounts, seconds),
        "calls": partial(calls.measure, graph, accounts),
        "increments": increments.measure,
        "deliveries": deliveries.measure,
        "pull": pull.measure,
        "caches": caches.measure,
        "fan_out": fan_out.measure,
        "flash_crowd": partial(flash_crowd.measure, FOLLOWS_PER_S, seconds),
        "streams": streams.measure,
        "peers": peers.measure,
        "linkbench": partial(linkbench.measure, graph),
        "writes": partial(writes.measure, graph),
    }
