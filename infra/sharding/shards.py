"""All shards: those of SHARD_DATABASE_URLS, and those that were added later."""

from django.db import DatabaseError

from infra.sharding.added_shards import AddedShards
from infra.sharding.errors import NO_ANSWER
from infra.sharding.map_copy import MapCopy
from infra.sharding.placement import GLOBAL_ALIAS, known_shards
from infra.sharding.sql import fetch_all, fetch_one

HAS_TABLE = "SELECT to_regclass('sharding_shard') IS NOT NULL"
# shard10 comes after shard9.
READ = "SELECT alias FROM sharding_shard ORDER BY length(alias), alias"


def shard_aliases() -> list[str]:
    """Every shard, in order: for what must reach all of them.

    No query, unless there is a doubt about the bucket map. Raises: errors of the default database;
    UnmappedBucket if this process has no URL of one.
    """
    if not AddedShards.is_current():
        learn_shards()
    return known_shards()


def all_aliases() -> list[str]:
    """The default database first, then every shard in order.

    For commands, metrics and pages: without the default database those that are known. Cost: as
    `shard_aliases`.
    """
    try:
        return [GLOBAL_ALIAS, *shard_aliases()]
    except (*NO_ANSWER, DatabaseError):
        return [GLOBAL_ALIAS, *known_shards()]


def learn_shards() -> None:
    """Reads the list. Raises as `shard_aliases`. One query; two until migrate_shards was run."""
    doubts = MapCopy.doubts
    AddedShards.keep(read_list(), doubts)


def read_list() -> list[str]:
    """The shards that were added. To ask for a missing table is an error in the server's log."""
    if AddedShards.doubts < 0 and fetch_one(GLOBAL_ALIAS, HAS_TABLE) != (True,):
        return []
    return [alias for (alias,) in fetch_all(GLOBAL_ALIAS, READ)]
