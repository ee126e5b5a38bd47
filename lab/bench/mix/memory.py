"""Memory of the web workers while a load runs."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from statistics import linear_regression
from typing import NamedTuple

from lab.faults.resources import resident_mb, sampling
from lab.services.process_tree import process_tree

EVERY_S = 0.5


class MemorySample(NamedTuple):
    """`mb`: resident memory of the largest worker."""

    at_s: float
    mb: float


def sampling_memory(web: int) -> AbstractContextManager[list[MemorySample]]:
    """The samples grow during the block. `web`: the process whose children are the workers."""
    workers = process_tree(web)[1:]
    return sampling(lambda at_s: MemorySample(at_s, max(map(resident_mb, workers))), EVERY_S)


def memory_figures(samples: Sequence[MemorySample]) -> dict[str, float]:
    """The slope is that of the second half, because caches fill in the first. Empty if short."""
    if len(samples) < 4:
        return {}
    late = samples[len(samples) // 2 :]
    slope = linear_regression(
        [sample.at_s for sample in late], [sample.mb for sample in late]
    ).slope
    return {
        "first": round(samples[0].mb, 1),
        "last": round(samples[-1].mb, 1),
        "most": round(max(sample.mb for sample in samples), 1),
        "growth_per_min": round(slope * 60, 2),
    }
