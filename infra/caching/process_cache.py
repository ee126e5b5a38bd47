"""A cache in process memory: values for a short time, bounded in number.

Use it for names, counts and other values that may be a second old. Never use it alone for
permission to see something: such a reader also reads the invalidation log
(accounts/queries/existing.py). An invalidation drops a copy; if none arrives, the age limit does.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from cachebox import TTLCache

from infra.caching.invalidation import InvalidationTimes
from infra.caching.listener import LISTENER
from infra.caching.metrics import count_reads

K = TypeVar("K")
V = TypeVar("V")
# The part of the time to live in which a copy ends soon.
SOON_SHARE = 0.25


def find_copies(get: Callable[[K], V | None], keys: Collection[K]) -> dict[K, V]:
    """The values of the keys that have one."""
    return {key: value for key in keys if (value := get(key)) is not None}


class ProcessCacheReply(NamedTuple, Generic[K, V]):
    """`hits`: copies. `missing`: keys to read elsewhere. `asked_at`: when the read began."""

    hits: dict[K, V]
    missing: list[K]
    asked_at: float


class ProcessCache(Generic[K, V]):
    """At most `max_entries` values, each for `ttl_s` seconds; the oldest are dropped first."""

    def __init__(
        self,
        family: str,
        max_entries: int,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._family = family
        self._cache: TTLCache[K, V] = TTLCache(max_entries, ttl_s)
        self._soon_s = ttl_s * SOON_SHARE
        self._clock = clock
        self._invalidated: InvalidationTimes[K] = InvalidationTimes()
        self._changing = threading.Lock()

    def split(self, keys: Collection[K]) -> ProcessCacheReply[K, V]:
        """Finds copies. The caller reads the missing keys and calls `store`.

        If one is missing, those that end soon are missing too: the caller makes a round trip
        anyway, and each of them would cost one a moment later.
        """
        asked_at = self._clock()
        hits: dict[K, V] = find_copies(self._cache.get, keys)
        if len(hits) < len(keys):
            hits = find_copies(self._find_lasting, hits)
            missing = [key for key in keys if key not in hits]
        else:
            missing = []
        count_reads(self._family, "process", len(keys) - len(missing), len(missing))
        return ProcessCacheReply(hits, missing, asked_at)

    def store(self, values: Mapping[K, V], asked_at: float) -> None:
        """Stores values, except those that were invalidated since `asked_at`."""
        LISTENER.start()
        with self._changing:
            may_store = self._invalidated.may_store
            self._cache.update({k: v for k, v in values.items() if may_store(k, asked_at)})

    def _find_lasting(self, key: K) -> V | None:
        copy, left_s = self._cache.get_with_expire(key)
        return copy if left_s > self._soon_s else None

    def find_time_left_s(self, key: K, value: V) -> float:
        """How long this very object stays the copy of the key; 0 if it is not the copy."""
        copy, left_s = self._cache.get_with_expire(key)
        return left_s if copy is value else 0.0

    def has_all(self, keys: Iterable[K]) -> bool:
        """Whether all of them have a copy."""
        return all(self._cache.get(key) is not None for key in keys)

    def has(self, key: K, value: V) -> bool:
        """Whether this is the copy of the key, or equal to it."""
        return self._cache.get(key) == value

    def forget(self, keys: Iterable[K]) -> None:
        """These keys changed: drops their copies, and what a read in progress would store."""
        changed = list(keys)
        with self._changing:
            self._invalidated.add(changed, self._clock())
            for key in changed:
                self._cache.pop(key, None)

    def forget_all(self) -> None:
        with self._changing:
            self._invalidated.add_all(self._clock())
            self._cache.clear()
