"""The local tier: values in process memory for a second or less, bounded in number.

For what many requests show and nobody can be harmed by for a second: names, counts. Never for
whether something may be seen. A copy is dropped when the process hears of a change (broadcast); its
age is the bound for when it does not.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from cachebox import TTLCache

from infra.caching.invalidation_times import InvalidationTimes
from infra.caching.listener import LISTENER
from infra.caching.metrics import count_reads

K = TypeVar("K")
V = TypeVar("V")


def find_copies(get: Callable[[K], V | None], keys: Collection[K]) -> dict[K, V]:
    """What there is of the keys."""
    return {key: value for key in keys if (value := get(key)) is not None}


class ProcessCacheReply(NamedTuple, Generic[K, V]):
    """Copies, the keys to be asked for elsewhere, and when that began."""

    known: dict[K, V]
    missing: list[K]
    asked_at: float


class ProcessCache(Generic[K, V]):
    """At most `max_entries` values, each for `ttl_s` seconds; the oldest go first."""

    def __init__(
        self,
        family: str,
        max_entries: int,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._family = family
        self._cache: TTLCache[K, V] = TTLCache(max_entries, ttl_s)
        self._clock = clock
        self._invalidated: InvalidationTimes[K] = InvalidationTimes()
        self._changing = threading.Lock()

    def split(self, keys: Collection[K]) -> ProcessCacheReply[K, V]:
        """Finds copies. `store` what is read for the missing."""
        asked_at = self._clock()
        known: dict[K, V] = find_copies(self._cache.get, keys)
        missing = [key for key in keys if key not in known] if len(known) < len(keys) else []
        count_reads(self._family, "process", len(keys) - len(missing), len(missing))
        return ProcessCacheReply(known, missing, asked_at)

    def store(self, values: Mapping[K, V], asked_at: float) -> None:
        """Copies them, but those that were dropped since `asked_at`."""
        LISTENER.start()
        with self._changing:
            may_store = self._invalidated.may_store
            self._cache.update({k: v for k, v in values.items() if may_store(k, asked_at)})

    def forget(self, keys: Iterable[K]) -> None:
        """These changed: what is held of them, and what is being read now, is not shown again."""
        changed = list(keys)
        with self._changing:
            self._invalidated.add(changed, self._clock())
            for key in changed:
                self._cache.pop(key, None)

    def forget_all(self) -> None:
        with self._changing:
            self._invalidated.add_all(self._clock())
            self._cache.clear()
