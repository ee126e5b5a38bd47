"""CPU time of the product's parts: web, worker, compensator, PostgreSQL and Redis."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

from infra.caching.client import redis
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one

# Process ids at the roots of process trees, by the name of the part.
Parts = Mapping[str, set[int]]
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class _Process(NamedTuple):
    parent: int
    cpu_s: float  # with the children that it has waited for


class CpuReading(NamedTuple):
    """CPU seconds that each part has used up to a moment."""

    at_s: float
    used_s: Mapping[str, float]

    @classmethod
    def of(cls, parts: Parts) -> Self:
        used = _used_s({root: part for part, roots in parts.items() for root in roots})
        return cls(time.monotonic(), {part: used.get(part, 0.0) for part in parts})

    def rates_since(self, earlier: "CpuReading") -> dict[str, float]:
        """CPU seconds a second of each part."""
        elapsed_s = self.at_s - earlier.at_s
        return {part: (s - earlier.used_s[part]) / elapsed_s for part, s in self.used_s.items()}

    def per_operation_ms(
        self, earlier: "CpuReading", idle: Mapping[str, float], count: int
    ) -> dict[str, float]:
        """CPU of one of `count` operations by part, without the CPU that an idle product uses."""
        elapsed_s = self.at_s - earlier.at_s
        spent = {
            part: (used - earlier.used_s[part] - idle[part] * elapsed_s) / count * 1000
            for part, used in self.used_s.items()
        }
        return {part: round(ms, 2) for part, ms in {"all": sum(spent.values()), **spent}.items()}


def find_servers() -> dict[str, set[int]]:
    """The PostgreSQL and Redis servers of the settings. All run on this machine."""
    info = redis().call("INFO", "server").decode().splitlines()
    redis_pid = next(int(line.split(":")[1]) for line in info if line.startswith("process_id:"))
    backends = [fetch_one(alias, "SELECT pg_backend_pid()") for alias in all_aliases()]
    processes = _processes()
    return {
        "postgres": {processes[row[0]].parent for row in backends if row},
        "redis": {redis_pid},
    }


def _used_s(part_of: Mapping[int, str]) -> dict[str, float]:
    """CPU seconds by part. A process belongs to the part of its nearest ancestor."""
    processes = _processes()
    used: dict[str, float] = {}
    for pid, process in processes.items():
        ancestor = pid
        while ancestor in processes and ancestor not in part_of:
            ancestor = processes[ancestor].parent
        if ancestor in part_of:
            part = part_of[ancestor]
            used[part] = used.get(part, 0.0) + process.cpu_s
    return used


def _processes() -> dict[int, _Process]:
    processes = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):  # it has ended
                continue
            in_ticks_s = sum(map(int, fields[11:15])) / _TICKS_A_SECOND
            cpu_s = max(in_ticks_s, _thread_s(folder))
            processes[int(folder.name)] = _Process(int(fields[1]), cpu_s)
    return processes


def _thread_s(folder: Path) -> float:
    """CPU seconds of the threads that a process has now, to the nanosecond. The kernel's count of
    the whole process is in ticks of 10 ms, and has threads that ended."""
    try:
        return sum(int(t.read_text().split()[0]) for t in folder.glob("task/*/schedstat")) / 1e9
    except (FileNotFoundError, ProcessLookupError):  # one has ended
        return 0.0
