"""Account id → bucket → database alias.

The map is in the default database, so a new shard in the environment moves no accounts. Each
process keeps a copy. It reads the map again when a database tells of a later epoch, and when a
write meets the guard of a move.

Sets of buckets, as a condition on an owner's id that PostgreSQL checks for each row.

A set is a mask and the values that the masked bits may have: buckets 0, 16, 32, … are mask 15 and
value 0. Shards have such sets, because a new installation deals its buckets in turn.
"""

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import structlog
from django.conf import settings

from infra.sharding.errors import NO_ANSWER, UnmappedBucket
from infra.sharding.map_copy import BucketMap, MapCopy
from infra.sharding.placement import GLOBAL_ALIAS, known_shards
from infra.sharding.shards import learn_shards, shard_aliases
from infra.sharding.sql import fetch_all, fetch_one

BUCKET_COUNT = 16_384  # a power of two: it can be split again without moving rows
_BITS = BUCKET_COUNT.bit_length() - 1


class BucketSet(NamedTuple):
    """`mask`: one less than a power of two, at most BUCKET_COUNT."""

    mask: int
    values: tuple[int, ...]

    def condition(self, column: str) -> str:
        """SQL that is true for rows of the set. Legal as the row filter of a publication."""
        values = ",".join(map(str, self.values))
        return f"(({column} & {self.mask}) = ANY ('{{{values}}}'::bigint[]))"

    def buckets(self) -> list[int]:
        allowed = {*self.values}
        return [bucket for bucket in range(BUCKET_COUNT) if bucket & self.mask in allowed]

    @property
    def size(self) -> int:
        return len(self.values) * (BUCKET_COUNT // (self.mask + 1))


def describe_buckets(buckets: Collection[int]) -> BucketSet:
    """The set of exactly these buckets, with the smallest mask."""
    for bits in range(_BITS + 1):
        described = BucketSet((1 << bits) - 1, _values(buckets, bits))
        if described.size == len(buckets):
            return described
    raise ValueError("buckets must be distinct and below BUCKET_COUNT")


def take_share(owned: Sequence[int], share: Fraction) -> BucketSet:
    """About this share of the buckets of a shard, spread evenly. Raises: ValueError if none."""
    described = describe_buckets(owned)
    bits = described.mask.bit_length()
    while bits < _BITS and (len(_values(owned, bits)) * share).denominator > 1:
        bits += 1
    values = _values(owned, bits)
    wanted = round(len(values) * share)
    if not wanted:
        raise ValueError(f"{share} of {len(owned)} buckets is less than one")
    chosen = [values[n * len(values) // wanted] for n in range(wanted)]
    return BucketSet((1 << bits) - 1, tuple(chosen))


def _values(buckets: Collection[int], bits: int) -> tuple[int, ...]:
    return tuple(sorted({bucket & ((1 << bits) - 1) for bucket in buckets}))


EPOCH = "SELECT map_epoch FROM sharding_databaseidentity"
# What a move gave at once is one row. In a switch every process reads the map, and on a crowded
# machine a row for each bucket kept writes waiting for three seconds.
READ = f"""
SELECT string_agg(bucket::text, ','), alias, (extract(epoch FROM moved_at) * 1000)::bigint,
    ({EPOCH})
FROM sharding_bucket GROUP BY alias, moved_at
"""  # noqa: S608
log = structlog.get_logger()


def bucket_of(account_id: int) -> int:
    return account_id % BUCKET_COUNT


def shard_of(account_id: int) -> str:
    """The alias of the database that owns this account's rows. No query once the map is read."""
    known = MapCopy.map if MapCopy.is_current else current_map()
    return known.aliases[account_id % BUCKET_COUNT]


def group_by_shard(account_ids: Iterable[int]) -> dict[str, list[int]]:
    """Account ids by database alias. Each list keeps the order of the input."""
    groups: dict[str, list[int]] = {}
    for account_id in account_ids:
        groups.setdefault(shard_of(account_id), []).append(account_id)
    return groups


def is_owned(alias: str, account_id: int) -> bool:
    """Whether the rows of this account on the shard are the account's. A move leaves copies."""
    return shard_of(account_id) == alias


def owned_condition(alias: str, column: str) -> str:
    """SQL that is true for rows whose owner, in this column, has this shard; without parameters.

    For statements that find their rows by anything else than an owner. No query.
    """
    return _owned_condition(current_map(), alias, column)


def moved_at_ms(account_id: int) -> int | None:
    """When the account last got another shard, by the clock of the default database; or None."""
    return current_map().moved_ms.get(account_id % BUCKET_COUNT)


def bucket_map() -> Sequence[str]:
    """The database alias of each bucket. Raises UnmappedBucket."""
    return current_map().aliases


def current_map() -> BucketMap:
    """The map. One query if there is a doubt about the copy of this process, two if it is old.

    Without an answer the copy stays in use, and the next call asks again. Raises: UnmappedBucket,
    also if this process has no URL of a shard; errors of the default database if there is no copy.
    """
    if MapCopy.is_current:
        return MapCopy.map
    doubts, known = MapCopy.doubts, MapCopy.map
    try:
        MapCopy.keep(_read_if_newer(known), doubts)
    except UnmappedBucket:
        raise  # the copy is old, and this process cannot follow
    except NO_ANSWER as error:
        if not known.aliases:
            raise
        log.warning("bucket_map.not_read", error=str(error))
    return MapCopy.map


def list_missing_shards() -> list[str]:
    """What is wrong with the bucket map or SHARD_DATABASE_URLS, a line at most. Two queries."""
    rows = fetch_all(GLOBAL_ALIAS, "SELECT DISTINCT alias FROM sharding_bucket ORDER BY alias")
    known = shard_aliases()
    lacking = [alias for (alias,) in rows if alias not in known]
    if lacking:
        given = len(settings.SHARD_ALIASES)
        return [f"SHARD_DATABASE_URLS lacks {', '.join(lacking)}: it has {given} URLs only"]
    return [] if rows else [f"{GLOBAL_ALIAS} has no bucket map: run migrate_shards"]


def even_map(aliases: list[str]) -> list[str]:
    """The aliases in turn, one for each bucket. Accounts with neighbouring ids, and so the first
    accounts, are spread evenly."""
    return [aliases[n % len(aliases)] for n in range(BUCKET_COUNT)]


@lru_cache(64)
def _owned_condition(known: BucketMap, alias: str, column: str) -> str:
    owned = [bucket for bucket, owner in enumerate(known.aliases) if owner == alias]
    return describe_buckets(owned).condition(column) if owned else "false"


def _read_if_newer(known: BucketMap) -> BucketMap:
    if known.aliases and fetch_one(GLOBAL_ALIAS, EPOCH) == (known.epoch,):
        return known
    return _read_map()


def _read_map() -> BucketMap:
    """One statement, so that the map and its epoch belong together. The shards are read after it:
    it names none that the list lacks then."""
    rows = fetch_all(GLOBAL_ALIAS, READ)
    learn_shards()
    shards = known_shards()
    aliases: list[str] = [""] * BUCKET_COUNT
    moved: dict[int, int] = {}
    for text, alias, moved_ms, _ in rows:
        buckets = [*map(int, text.split(","))]
        for bucket in buckets if alias in shards else ():
            aliases[bucket] = alias
        if moved_ms is not None:
            moved.update(dict.fromkeys(buckets, moved_ms))
    if missing := aliases.count(""):
        raise UnmappedBucket(f"{missing} buckets have no shard, first {aliases.index('')}")
    return BucketMap(tuple(aliases), rows[0][3] or 0, moved)
