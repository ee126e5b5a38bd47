"""Counts reads per key, in memory that does not grow with the number of keys."""

from collections.abc import Iterable
from typing import Generic, TypeVar

K = TypeVar("K")

MOST_COUNTED = 10_000


class FrequentKeys(Generic[K]):
    """Counts of the keys that are read most.

    The algorithm is Misra and Gries (1982), in batches: when there are more than `most` keys, the
    median count is subtracted from every key. A count is never too high, and too low by at most
    2/most of all reads. Threads share it without a lock, so a rare read is not counted.
    Cost: one sort of `most` numbers per `most`/2 reads or more.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        self._most = most
        self._counts: dict[K, int] = {}

    def add(self, keys: Iterable[K]) -> None:
        counts = self._counts
        get = counts.get
        for key in keys:
            counts[key] = get(key, 0) + 1
        if len(counts) > self._most:
            self._thin()

    def take(self, at_least: int) -> dict[K, int]:
        """The counts of at least this many reads. Counting starts again at zero."""
        counts, self._counts = self._counts, {}
        # A list first: another thread may still add to the dictionary.
        return {key: count for key, count in list(counts.items()) if count >= at_least}

    def __len__(self) -> int:
        return len(self._counts)

    def _thin(self) -> None:
        counted = list(self._counts.items())
        middle = sorted(count for _, count in counted)[len(counted) // 2]
        self._counts = {key: count - middle for key, count in counted if count > middle}
