"""The hot tier: copies of hot values in process memory, for at most `HOT_COPY_MS`.

For values that may be a moment old, and that say nothing of what a viewer may see. A change drops
the copies of the process that makes it; elsewhere their age ends them. It counts from before the
read.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from infra.caching.frequent_keys import FrequentKeys
from infra.caching.hot_keys import HOT_KEYS, HotKeys
from infra.caching.metrics import count_reads, family_name
from infra.caching.server_identity import on_other_server
from infra.telemetry.gauges import process_gauge

K = TypeVar("K")
V = TypeVar("V")

MOST_CHANGED = 10_000
HOT = process_gauge("tideline_hot_keys", "Hot keys, of the process that has most", ["family"])


class _ChangeTimes:
    """When each key was changed last, by the clock of its readers.

    Not thread-safe: the owner of the copies calls `may_store` and stores under one lock. Otherwise
    a copy could be stored between the check and a change. Memory: at most MOST_CHANGED keys; then
    all are forgotten, and no value that was read before that may be stored.
    """

    def __init__(self) -> None:
        self._at: dict[bytes, float] = {}
        self._all_at = float("-inf")

    def add(self, keys: Iterable[bytes], now: float) -> None:
        self._at.update(dict.fromkeys(keys, now))
        if len(self._at) > MOST_CHANGED:
            self.add_all(now)

    def add_all(self, now: float) -> None:
        self._all_at = now
        self._at.clear()

    def may_store(self, key: bytes, asked_at: float) -> bool:
        """Whether no change came after the read that began at `asked_at`."""
        return asked_at > self._all_at and asked_at > self._at.get(key, self._all_at)


class _Copy(NamedTuple, Generic[V]):
    value: V
    asked_at: float


class HotReply(NamedTuple, Generic[K, V]):
    """`hits`: fresh copies. `missing`: keys to read elsewhere. `asked_at`: when the read began."""

    hits: dict[K, V]
    missing: list[K]
    asked_at: float


class HotValues(Generic[K, V]):
    """Counts the reads of one family and stores copies of its hot values.

    `name_of`: the Redis key that holds the value of a key. Several keys may share one, for example
    the pages of a list: the Redis key is what becomes hot. Memory is bounded.
    """

    def __init__(
        self, family: str, name_of: Callable[[K], bytes], hot_keys: HotKeys = HOT_KEYS
    ) -> None:
        self._family = family
        self._name_of = name_of
        self._hot_keys = hot_keys
        self._copy_s = hot_keys.limits.copy_s
        self._reads: FrequentKeys[K] = FrequentKeys()
        self._warm: dict[K, bytes] = {}
        self._hot: dict[K, bytes] = {}
        self._copies: dict[K, _Copy[V]] = {}
        self._changed = _ChangeTimes()
        self._changing = threading.Lock()
        hot_keys.watch(self)
        on_other_server(self.clear)
        HOT.labels(family_name(family)).set_function(self._count)

    def split(self, keys: Collection[K]) -> HotReply[K, V]:
        """Counts a read of each key and finds copies. The caller reads the rest and calls `store`.

        Cost: no round trip, except once a second (`HotKeys.tick`).
        """
        self._reads.add(keys)
        now = self._hot_keys.tick()
        if not self._copies:
            return HotReply({}, list(keys), now)
        oldest, get = now - self._copy_s, self._copies.get
        copies = ((key, get(key)) for key in keys)
        hits = {key: c.value for key, c in copies if c is not None and c.asked_at > oldest}
        if hits:
            count_reads(self._family, "hot", len(hits))
        return HotReply(hits, [key for key in keys if key not in hits], now)

    def store(self, values: Mapping[K, V], asked_at: float) -> None:
        """Stores the hot values, unless they were changed or read again since `asked_at`."""
        if not self._hot:
            return
        with self._changing:
            for key in values.keys() & self._hot.keys():
                if self._may_store(key, asked_at):
                    self._copies[key] = _Copy(values[key], asked_at)

    def get(self, key: K, read: Callable[[], V | None]) -> V | None:
        """One value: the copy, or the result of `read`. Raises what `read` raises."""
        hits, missing, asked_at = self.split((key,))
        if not missing:
            return hits[key]
        value = read()
        if value is not None:
            self.store({key: value}, asked_at)
        return value

    def forget_names(self, names: Iterable[bytes]) -> None:
        """These Redis keys changed: drops their copies, and what a read in progress would store.

        Also for names that are not hot yet: they may be hot when the read in progress ends.
        """
        changed = set(names)
        with self._changing:
            self._changed.add(changed, self._hot_keys.clock())
            for key in [key for key in self._copies if self._hot[key] in changed]:
                del self._copies[key]

    def clear(self) -> None:
        """Drops all copies, and what reads in progress would store."""
        with self._changing:
            self._changed.add_all(self._hot_keys.clock())
            self._copies = {}

    def take_counts(self, at_least: int) -> Mapping[bytes, int]:
        reads: Counter[bytes] = Counter()
        self._warm = {}
        for key, count in self._reads.take(at_least).items():
            name = self._warm[key] = self._name_of(key)
            reads[name] += count
        return reads

    def hot_names(self) -> Collection[bytes]:
        return set(self._hot.values())

    def promote(self, names: Collection[bytes]) -> None:
        counted = self._hot | self._warm
        with self._changing:
            self._hot = {key: name for key, name in counted.items() if name in names}
            self._copies = {key: c for key, c in self._copies.items() if key in self._hot}

    def _may_store(self, key: K, asked_at: float) -> bool:
        copy = self._copies.get(key)
        is_newer = copy is None or copy.asked_at < asked_at
        return is_newer and self._changed.may_store(self._hot[key], asked_at)

    def _count(self) -> float:
        return len(self.hot_names()) if self._hot_keys.is_current() else 0
