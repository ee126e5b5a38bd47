"""What a process was told has changed: copies that were asked for before that are not news."""

from collections.abc import Iterable
from typing import Generic, TypeVar

K = TypeVar("K")

MOST_REMEMBERED = 10_000


class InvalidationTimes(Generic[K]):
    """When each key was dropped last, by the clock its readers ask at.

    Not for several threads at once: whoever has copies checks and lays them under one lock, or a
    copy could be laid between the check and the drop. Memory: what overflows is forgotten all at
    once, and then nothing that was asked for before is news.
    """

    def __init__(self) -> None:
        self._at: dict[K, float] = {}
        self._all_at = float("-inf")

    def add(self, keys: Iterable[K], now: float) -> None:
        self._at.update(dict.fromkeys(keys, now))
        if len(self._at) > MOST_REMEMBERED:
            self.add_all(now)

    def add_all(self, now: float) -> None:
        self._all_at = now
        self._at.clear()

    def may_store(self, key: K, asked_at: float) -> bool:
        """Whether a value that was asked for then may be kept."""
        return asked_at > self._all_at and asked_at > self._at.get(key, self._all_at)
