"""Metrics of the caches: hits and misses of each tier, counted once per batch.

`hot` and `process` are process memory (copies of hot values; remembered answers), `redis` is Redis,
and `filter` a Bloom filter, whose hits are keys that certainly have no value. Keys that miss one
tier are read from the next one, and after the last one from the source.
"""

from functools import cache, partial
from typing import Literal

from prometheus_client import Counter

from infra.telemetry.gauges import Add, adder

Tier = Literal["hot", "process", "redis", "filter"]

READS = Counter(
    "tideline_cache_reads_total",
    (
        "Keys read from a cache: `hit` or `miss`, in the tier `hot`, `process`, `redis` or "
        "`filter`. For `timelines.home_pages` and `timelines.author_pages` a hit is a "
        "remembered answer that was confirmed"
    ),
    ["family", "tier", "outcome"],
)
LOADS = Counter(
    "tideline_cache_loads_total",
    "Keys read from the source: after a `miss`, or past their soft time (`stale`)",
    ["family", "why"],
)
WAITS = Counter("tideline_cache_waits_total", "Keys that another process was loading", ["family"])
ERRORS = Counter(
    "tideline_cache_errors_total", "Reads and writes without an answer from Redis", ["family"]
)


def count_reads(family: str, tier: Tier, hits: int, misses: int = 0) -> None:
    """Adds one batch. The label is the family without its layout version."""
    add_hits, add_misses = _series(family, tier)
    if hits:
        add_hits(hits)
    if misses:
        add_misses(misses)


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
def _series(family: str, tier: Tier) -> tuple[Add, Add]:
    of_outcome = partial(READS.labels, family_name(family), tier)
    return adder(of_outcome("hit")), adder(of_outcome("miss"))
