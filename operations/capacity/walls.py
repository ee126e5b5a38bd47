"""Limits that more machines of the same kind do not move, and how near a load is to each."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.sharding.buckets import BUCKET_COUNT
from operations.capacity.plan import Machines, Plan, SiteLoad

# The index is copied to each shard. Above a tenth of a shard's disk it doubles the site's.
_INDEX_SHARE = 0.1
# What one standby takes over one stream, with room to catch up. Not measured here.
_WAL_MB = 50
# The most nodes that Redis advises for a Cluster, replicas included.
_REDIS_NODES = 1_000
# A bucket moves within an hour.
_ACCOUNTS_OF_A_BUCKET = 100_000


class Wall(NamedTuple):
    """`used` and `limit` have the same unit. `remedy`: what to do before it is reached."""

    name: str
    used: float
    limit: float
    remedy: str

    @property
    def used_share(self) -> float:
        return self.used / self.limit


def list_walls(load: SiteLoad, plan: Plan, machines: Machines) -> Sequence[Wall]:
    """The one that is reached first comes first."""
    return sorted(_walls(load, plan, machines), key=lambda wall: wall.used_share, reverse=True)


def _walls(load: SiteLoad, plan: Plan, machines: Machines) -> Sequence[Wall]:
    return [
        Wall(
            "connections of one shard",
            plan.connections_per_shard,
            machines.connections,
            "smaller pools" if machines.pool_size else "a pool in front of each PostgreSQL server",
        ),
        Wall(
            "recent-posts index on each shard, TB",
            plan.index_tb_per_shard,
            machines.shard_tb * _INDEX_SHARE,
            "RECENT_INDEX=by_author, or fewer RECENT_DAYS",
        ),
        Wall("log of one shard, MB/s", plan.wal_mb_per_shard, _WAL_MB, "more shards"),
        Wall(
            "size of one shard, TB",
            plan.disk_tb / plan.shards,
            machines.shard_tb,
            "more shards",
        ),
        Wall(
            "cores of one shard",
            plan.database_cores / plan.shards / machines.busy_share,
            machines.shard_cores,
            "more shards",
        ),
        Wall(
            "default database, GB",
            plan.default_gb,
            machines.shard_tb * 1_000,
            "a larger server for it: users and tokens do not divide",
        ),
        Wall("Redis nodes", 2 * plan.redis_nodes, _REDIS_NODES, "nodes with more memory"),
        Wall(
            "accounts of one bucket",
            load.accounts / BUCKET_COUNT,
            _ACCOUNTS_OF_A_BUCKET,
            "more buckets, which is a new layout",
        ),
    ]
