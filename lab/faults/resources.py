"""Memory, open files and connections of the cluster, sampled from /proc while it runs."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from lab.faults.cluster.cluster import Cluster
from lab.services.process_tree import process_tree

T = TypeVar("T")
EVERY_S = 2.0
_KB_PER_PAGE = 4


class ResourceSample(NamedTuple):
    """`values`: by "process unit", for example "web0 MB". `lives`: the process id of each process
    now. A process that was killed and started again has another one."""

    at_s: float
    values: Mapping[str, float]
    lives: Mapping[str, int]


@contextmanager
def sampling(measure_at: Callable[[float], T], every_s: float = EVERY_S) -> Iterator[list[T]]:
    """The samples grow during the block. `measure_at`: gets the seconds since its begin."""
    samples: list[T] = []
    over, began_s = threading.Event(), time.monotonic()

    def watch() -> None:
        while not over.wait(every_s):
            samples.append(measure_at(time.monotonic() - began_s))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()


def measure(cluster: Cluster, at_s: float) -> ResourceSample:
    """Memory and files of each process of Tideline; connections of each store."""
    values: dict[str, float] = {}
    lives: dict[str, int] = {}
    for name, process in cluster.processes.items():
        if process.is_running:
            lives[name] = process.pid
            pids = process_tree(process.pid)
            values[f"{name} MB"] = sum(map(resident_mb, pids))
            values[f"{name} files"] = sum(map(_open_files, pids))
    for name, server in cluster.stores.items():
        if server.is_running:
            lives[name] = server.process.pid
            values[f"{name} connections"] = _connections(name, server.process.pid)
    return ResourceSample(at_s, values, lives)


def _connections(store: str, pid: int) -> int:
    """Sessions of PostgreSQL are processes, those of Redis are files. A few are the server's own,
    always as many."""
    return _open_files(pid) if store == "redis" else len(process_tree(pid)) - 1


def resident_mb(pid: int) -> float:
    """Resident memory of one process. 0 when it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * _KB_PER_PAGE / 1024


def _open_files(pid: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0
