"""Changes of the map: buckets get another shard, or a shard is added; the databases tell of it."""

from django.db import transaction

from infra.sharding.map_copy import MapCopy
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_one

RAISE_EPOCH = "UPDATE sharding_databaseidentity SET map_epoch = map_epoch + 1 RETURNING map_epoch"
GIVE = """
UPDATE sharding_bucket SET alias = %s, epoch = %s, moved_at = (SELECT clock_timestamp())
WHERE alias = %s AND {condition}
"""
LIST = "INSERT INTO sharding_shard (alias) VALUES (%s) ON CONFLICT DO NOTHING"
TELL = "UPDATE sharding_databaseidentity SET map_epoch = %s WHERE map_epoch < %s"
KNOWS = "SELECT map_epoch >= %s FROM sharding_databaseidentity"


class BucketsElsewhere(RuntimeError):
    """The shard that should give buckets does not have all of them."""


def give_buckets(source: str, target: str, condition: str, count: int) -> int:
    """Gives these buckets to the target; returns the new epoch of the map.

    `condition`: SQL on the column `bucket`, which selects `count` of them. The caller has begun a
    transaction on the default database. Raises: BucketsElsewhere. Cost: two statements.
    """
    row = fetch_one(GLOBAL_ALIAS, RAISE_EPOCH)
    epoch = int(row[0]) if row else 0
    given = execute(GLOBAL_ALIAS, GIVE.format(condition=condition), (target, epoch, source))
    if given != count:
        raise BucketsElsewhere(f"{source} has {given} of {count} buckets")
    transaction.on_commit(MapCopy.doubt, using=GLOBAL_ALIAS)
    return epoch


def list_shard(alias: str) -> int:
    """Adds the shard to the list; returns the new epoch of the map. Safety: idempotent.

    Cost: two statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        execute(GLOBAL_ALIAS, LIST, (alias,))
        row = fetch_one(GLOBAL_ALIAS, RAISE_EPOCH)
        transaction.on_commit(MapCopy.doubt, using=GLOBAL_ALIAS)
    return int(row[0]) if row else 0


def tell_epoch(alias: str, epoch: int) -> None:
    """New connections to this database learn of the map from now on. One statement."""
    execute(alias, TELL, (epoch, epoch))


def knows_epoch(alias: str, epoch: int) -> bool:
    """Whether a replica has what `tell_epoch` wrote on its shard. One query."""
    return fetch_one(alias, KNOWS, (epoch,)) == (True,)
