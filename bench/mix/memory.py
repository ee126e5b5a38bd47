"""Memory of the web workers while a load runs."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import linear_regression
from typing import NamedTuple

from faults.cluster.process_tree import process_tree
from faults.resources import resident_mb

EVERY_S = 0.5


class MemorySample(NamedTuple):
    """`mb`: resident memory of the largest worker."""

    at_s: float
    mb: float


@contextmanager
def sampling_memory(web: int) -> Iterator[list[MemorySample]]:
    """The samples grow during the block. `web`: the process whose children are the workers."""
    workers, samples = process_tree(web)[1:], list[MemorySample]()
    over, began_s = threading.Event(), time.monotonic()

    def watch() -> None:
        while not over.wait(EVERY_S):
            samples.append(MemorySample(time.monotonic() - began_s, max(map(resident_mb, workers))))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()


def memory_figures(samples: Sequence[MemorySample]) -> dict[str, float]:
    """The slope is that of the second half, because caches fill in the first. Empty if short."""
    if len(samples) < 4:
        return {}
    late = samples[len(samples) // 2 :]
    slope = linear_regression([one.at_s for one in late], [one.mb for one in late]).slope
    return {
        "first": round(samples[0].mb, 1),
        "last": round(samples[-1].mb, 1),
        "most": round(max(one.mb for one in samples), 1),
        "growth_per_min": round(slope * 60, 2),
    }
