"""How many entries the caches of a process may keep.

Together they take about PROCESS_CACHE_MB when all are full. Each has a share of it, and says how
large its entries are: measured on the demo's posts, with the keys and what Python adds. Long texts
take more. What grows with the site, and not with its readers, is not part of it: the last-post
index, and the bucket map.
"""

from typing import NamedTuple

from django.conf import settings

_MB = 1_000_000


class CacheSize(NamedTuple):
    """`share`: of PROCESS_CACHE_MB. `bytes_each`: of an entry."""

    share: float
    bytes_each: int


# By the name of the cache.
_sizes: dict[str, CacheSize] = {}


def most_entries(cache: str, share: float, bytes_each: int) -> int:
    """How many entries this cache may keep. The shares of all caches are at most 1 together.

    Call it once for each cache, when its module is loaded.
    """
    _sizes[cache] = CacheSize(share, bytes_each)
    return max(1, int(settings.PROCESS_CACHE_MB * _MB * share / bytes_each))


def sizes_of_caches() -> dict[str, CacheSize]:
    """Of the caches whose modules are loaded, by name."""
    return dict(_sizes)
