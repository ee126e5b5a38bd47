"""How often each tier had what was asked of it, counted once a batch: a count costs 0.4 µs.

`hot` and `local` are process memory (for what is hot; for all of a family), `redis` is Redis,
`filter` a Bloom filter: its hits are keys it says nothing is stored of. What a tier misses the next
one is asked for; what the last one misses comes from the source.
"""

from functools import cache
from typing import Literal

from prometheus_client import Counter

Tier = Literal["hot", "process", "redis", "filter"]

READS = Counter(
    "tideline_cache_reads_total",
    "Keys asked of a cache, by what asked for them, where, and whether they were there",
    ["family", "tier", "outcome"],
)
LOADS = Counter(
    "tideline_cache_loads_total", "Keys read from the source, and why", ["family", "why"]
)
WAITS = Counter(
    "tideline_cache_waits_total", "Keys that another process was found to be loading", ["family"]
)
ERRORS = Counter(
    "tideline_cache_errors_total", "Reads and writes that Redis did not answer", ["family"]
)


def count_reads(family: str, tier: Tier, hits: int, misses: int = 0) -> None:
    """Adds one batch. A family is counted without the version of its layout and its site."""
    hit, miss = _series(family, tier)
    if hits:
        hit.inc(hits)
    if misses:
        miss.inc(misses)


def count_loads(family: str, why: Literal["miss", "stale"], keys: int) -> None:
    LOADS.labels(family_name(family), why).inc(keys)


def count_waits(family: str, keys: int) -> None:
    WAITS.labels(family_name(family)).inc(keys)


def count_error(family: str) -> None:
    ERRORS.labels(family_name(family)).inc()


def family_name(family: str) -> str:
    """The name in metrics: `accounts.profile` of `accounts.profile:v1:5f1d7a84`."""
    return family.partition(":")[0]


@cache
def _series(family: str, tier: Tier) -> tuple[Counter, Counter]:
    name = family_name(family)
    return READS.labels(name, tier, "hit"), READS.labels(name, tier, "miss")
