"""Writes to caches, as loaders write."""

from collections.abc import Mapping

from infra.caching.load_tokens import LoadTokens, begin_loads
from infra.caching.values import ValueCache, Versioned


def begin(cache: ValueCache, *owners: int) -> LoadTokens:
    """As a loader does before it reads the source."""
    return begin_loads(cache.family, cache.keys(owners))


def write_values(cache: ValueCache, entries: Mapping[int, Versioned]) -> None:
    """Writes entries as a load without any event between."""
    cache.write_many(entries, begin(cache, *entries))
