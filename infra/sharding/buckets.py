"""Account id → bucket → database alias.

The map is in the default database, so a new shard in the environment moves no accounts. Each
process reads the map once; a move of buckets must make processes read it again.
"""

from collections.abc import Iterable
from functools import cache

from django.apps import apps
from django.conf import settings

from infra.sharding.errors import UnmappedBucket
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

BUCKET_COUNT = 16_384  # a power of two: it can be split again without moving rows


def bucket_of(account_id: int) -> int:
    return account_id % BUCKET_COUNT


def shard_of(account_id: int) -> str:
    """The alias of the database that owns this account's rows. No query once the map is read."""
    return bucket_map()[account_id % BUCKET_COUNT]


def group_by_shard(account_ids: Iterable[int]) -> dict[str, list[int]]:
    """Account ids by database alias. Each list keeps the order of the input."""
    groups: dict[str, list[int]] = {}
    for account_id in account_ids:
        groups.setdefault(shard_of(account_id), []).append(account_id)
    return groups


@cache
def bucket_map() -> tuple[str, ...]:
    """The database alias of each bucket. One query per process. Raises UnmappedBucket."""
    bucket_model = apps.get_model("sharding", "Bucket")
    rows = dict(bucket_model.objects.using(GLOBAL_ALIAS).values_list("bucket", "alias"))
    missing = [n for n in range(BUCKET_COUNT) if rows.get(n) not in settings.SHARD_ALIASES]
    if missing:
        raise UnmappedBucket(f"{len(missing)} buckets have no shard, first {missing[0]}")
    return tuple(rows[n] for n in range(BUCKET_COUNT))


def list_missing_shards() -> list[str]:
    """What is wrong with the bucket map or SHARD_DATABASE_URLS, a line at most. One query."""
    rows = fetch_all(GLOBAL_ALIAS, "SELECT DISTINCT alias FROM sharding_bucket ORDER BY alias")
    lacking = [alias for (alias,) in rows if alias not in settings.SHARD_ALIASES]
    if lacking:
        given = len(settings.SHARD_ALIASES)
        return [f"SHARD_DATABASE_URLS lacks {', '.join(lacking)}: it has {given} URLs only"]
    return [] if rows else [f"{GLOBAL_ALIAS} has no bucket map: run migrate_shards"]


def even_map(aliases: list[str]) -> list[str]:
    """The aliases in turn, one for each bucket. Accounts with neighbouring ids, and so the first
    accounts, are spread evenly."""
    return [aliases[n % len(aliases)] for n in range(BUCKET_COUNT)]
