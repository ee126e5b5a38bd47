"""The local tier: values in process memory for a second or less, bounded in number.

For what many requests show and nobody can be harmed by for a second: names, counts. Never for
whether something may be seen.
"""

from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from cachebox import TTLCache

from infra.caching.reads import count_reads

K = TypeVar("K")
V = TypeVar("V")


class LocalTier(Generic[K, V]):
    """At most `max_entries` values, each for `ttl_s` seconds; the oldest go first."""

    def __init__(self, family: str, max_entries: int, ttl_s: float) -> None:
        self._family = family
        self._cache: TTLCache[K, V] = TTLCache(max_entries, ttl_s)

    def split(self, keys: Collection[K]) -> tuple[dict[K, V], list[K]]:
        """What is known, and the keys that are not."""
        get = self._cache.get
        known = {key: value for key in keys if (value := get(key)) is not None}
        count_reads(self._family, "local", len(known), len(keys) - len(known))
        return known, [key for key in keys if key not in known]

    def keep(self, values: Mapping[K, V]) -> None:
        self._cache.update(values)

    def clear(self) -> None:
        self._cache.clear()
