"""Values in process memory for a short time.

What such a value holds may be nowhere else by the time it ends, as the old texts of posts are. So
it must go then, also if no request asks for it again. In cachebox's TTLCache, a key that is stored
again keeps its place in the queue, and the ended values behind it stay.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from cachebox import LRUCache

K = TypeVar("K")
V = TypeVar("V")


class ShortLived(Generic[K, V]):
    """Values that weigh at most `most` together, each for `ttl_ms`. The least recently used one
    goes first. One that weighs more than all may is not kept.

    Safety: any thread may use it.
    """

    def __init__(self, most: int, ttl_ms: int, weigh: Callable[[V], int]) -> None:
        self._ttl_ms = ttl_ms
        # With the time since when the value is here.
        self._values: LRUCache[K, tuple[int, V]] = LRUCache(
            most, getsizeof=lambda _, value: weigh(value[1])
        )

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def get(self, key: K, now_ms: int) -> V | None:
        timed = self._values.get(key)
        return timed[1] if timed is not None and self._has_time(timed[0], now_ms) else None

    def put(self, key: K, value: V, now_ms: int) -> None:
        """Also drops values that have ended since their last use. Cost: about 1 us."""
        try:
            self._values[key] = now_ms, value
        except OverflowError:
            self.drop(key)
        while (oldest := self._find_oldest()) is not None:
            timed = self._values.peek(oldest)
            # Requests overlap: one that began earlier may store later. It must not drop newer ones.
            if timed is None or now_ms - timed[0] < self._ttl_ms:
                return
            self._values.pop(oldest, None)

    def drop(self, key: K) -> None:
        self._values.pop(key, None)

    def _find_oldest(self) -> K | None:
        """None: other threads have dropped all."""
        try:
            return self._values.least_recently_used()
        except KeyError:
            return None

    def clear(self) -> None:
        self._values.clear()

    def _has_time(self, since_ms: int, now_ms: int) -> bool:
        # A clock that was set back ends it, too.
        return 0 <= now_ms - since_ms < self._ttl_ms
