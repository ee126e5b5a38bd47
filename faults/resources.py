"""Memory, open files and connections of the cluster, sampled from /proc while it runs."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from faults.cluster.cluster import Cluster
from faults.cluster.process_tree import process_tree

EVERY_S = 2.0
_KB_PER_PAGE = 4
# Start-up and caches that fill are no growth: the first part of a run is not compared.
_FIRST_SHARE = 0.4
_FLAT_RATIO = 1.25
_FLAT_ROOM = {"MB": 12.0, "files": 12.0, "connections": 12.0}


class ResourceSample(NamedTuple):
    """`values`: by "process unit", for example "web0 MB"."""

    at_s: float
    values: dict[str, float]


class Growth(NamedTuple):
    """Medians of the time after the warm-up, and of the end."""

    name: str
    before: float
    after: float

    @property
    def is_flat(self) -> bool:
        room = _FLAT_ROOM[self.name.rpartition(" ")[2]]
        return self.after <= max(self.before * _FLAT_RATIO, self.before + room)


@contextmanager
def sampling(cluster: Cluster) -> Iterator[list[ResourceSample]]:
    """The samples grow during the block."""
    samples: list[ResourceSample] = []
    over, began_s = threading.Event(), time.monotonic()

    def watch() -> None:
        while not over.wait(EVERY_S):
            samples.append(ResourceSample(time.monotonic() - began_s, measure(cluster)))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()


def measure(cluster: Cluster) -> dict[str, float]:
    """Memory and files of each process of Tideline; sessions of each database."""
    values: dict[str, float] = {}
    for name, process in cluster.processes.items():
        if process.is_running:
            pids = process_tree(process.pid)
            values[f"{name} MB"] = sum(map(_resident_mb, pids))
            values[f"{name} files"] = sum(map(_open_files, pids))
    for name, server in cluster.services.postgres.items():
        if server.is_running:
            values[f"{name} connections"] = len(process_tree(server.process.pid)) - 1
    return values


def growths(samples: Sequence[ResourceSample]) -> list[Growth]:
    """For each value the median of the middle and of the last fifth of the run."""
    names = sorted({name for sample in samples for name in sample.values})
    return [
        Growth(name, median(before), median(after))
        for name in names
        for before, after in [_parts([s.values[name] for s in samples if name in s.values])]
        if before and after
    ]


def _parts(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    first, last = int(len(values) * _FIRST_SHARE), int(len(values) * 0.8)
    return values[first : first + max(len(values) // 5, 1)], values[last:]


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * _KB_PER_PAGE / 1024


def _open_files(pid: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0
