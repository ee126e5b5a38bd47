"""A cache in process memory: values for a short time, bounded in number.

Use it for names, counts and other values that may be a second old. Never use it alone for
permission to see something: such a reader also reads the invalidation log
(accounts/queries/existing_accounts.py). An invalidation drops a copy; if none arrives, the age
limit does (copy_ages.py).
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from cachebox import TTLCache

from infra.caching.copy_ages import AgeLimit
from infra.caching.invalidation import InvalidationTimes
from infra.caching.listener import LISTENER
from infra.caching.metrics import count_reads

K = TypeVar("K")
V = TypeVar("V")
# The part of the time to live in which a copy ends soon.
SOON_SHARE = 0.25


class ProcessCacheReply(NamedTuple, Generic[K, V]):
    """`hits`: copies. `missing`: keys to read elsewhere. `asked_at`: when the read began."""

    hits: dict[K, V]
    missing: list[K]
    asked_at: float


class ProcessCache(Generic[K, V]):
    """At most `max_entries` values, none older than `ages`; the oldest are dropped first."""

    def __init__(
        self,
        family: str,
        max_entries: int,
        ages: AgeLimit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._family = family
        self.ages = ages
        # Each with the time when it was asked for.
        self._cache: TTLCache[K, tuple[float, V]] = TTLCache(max_entries, max(ages[:2]))
        self._clock = clock
        self._invalidated: InvalidationTimes[K] = InvalidationTimes()
        self._changing = threading.Lock()

    def split(self, keys: Collection[K]) -> ProcessCacheReply[K, V]:
        """Finds copies. The caller reads the missing keys and calls `store`.

        If one is missing, those that end soon are missing too: the caller makes a round trip
        anyway, and each of them would cost one a moment later.
        """
        asked_at = self._clock()
        oldest = self.ages.oldest(asked_at)
        hits = self._find_all(keys, oldest)
        missing: list[K] = []
        if len(hits) < len(keys):
            hits = self._find_all(hits, oldest + (asked_at - oldest) * SOON_SHARE)
            missing = [key for key in keys if key not in hits]
        count_reads(self._family, "process", len(keys) - len(missing), len(missing))
        return ProcessCacheReply(hits, missing, asked_at)

    def _find_all(self, keys: Iterable[K], oldest: float) -> dict[K, V]:
        """Copies of these keys that were asked for after `oldest`."""
        get, found = self._cache.get, {}
        for key in keys:
            copy = get(key)
            if copy is not None and copy[0] > oldest:
                found[key] = copy[1]
        return found

    def store(self, values: Mapping[K, V], asked_at: float) -> None:
        """Stores values, except those that were invalidated since `asked_at`."""
        LISTENER.start()
        with self._changing:
            may_store = self._invalidated.may_store
            self._cache.update(
                {k: (asked_at, v) for k, v in values.items() if may_store(k, asked_at)}
            )

    def store_in_spare_room(self, values: Mapping[K, V], asked_at: float) -> None:
        """As `store`, if no other copy is dropped for it: for values that few readers ask for."""
        if len(self._cache) + len(values) <= self._cache.maxsize:
            self.store(values, asked_at)

    def find_asked_at(self, key: K, value: V) -> float:
        """When this very object was asked for; -inf if it is not the copy of the key."""
        copy = self._cache.get(key)
        return copy[0] if copy is not None and copy[1] is value else float("-inf")

    def has_all(self, keys: Collection[K]) -> bool:
        """Whether all of them have a copy."""
        get, oldest = self._cache.get, self.ages.oldest(self._clock())
        for key in keys:
            copy = get(key)
            if copy is None or copy[0] <= oldest:
                return False
        return True

    def has(self, key: K, value: V) -> bool:
        """Whether this is the copy of the key, or equal to it."""
        found = self._find_all((key,), self.ages.oldest(self._clock()))
        return found.get(key) == value

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
