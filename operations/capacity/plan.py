"""Computes what a load needs. All sizes are for the whole site unless a name says otherwise."""

from math import ceil
from typing import NamedTuple

from django.conf import settings

from operations.capacity import measured_costs as costs
from operations.capacity.measured_costs import CpuCost
from operations.capacity.site_load import Machines, SiteLoad

DAY_S = 86_400
# A follow has a row with its follower, and one with its followee.
_ROWS_OF_A_FOLLOW = 2
# Memory that a Redis node may use of its own. The others are for copies while it saves or syncs.
_REDIS_FULL = 0.75
_MEMORY_OF_DATABASE_GB = 64


class Plan(NamedTuple):
    """`cpu`: cores that are busy at the peak. `redis_nodes`: without their replicas."""

    shards: int
    cpu: CpuCost
    web_processes: int
    worker_processes: int
    redis_nodes: int
    redis_gb: float
    disk_tb: float
    index_tb_per_shard: float
    default_gb: float
    wal_mb_per_shard: float
    connections_per_shard: int

    @property
    def database_cores(self) -> float:
        return self.cpu.postgres

    def cores(self, machines: Machines) -> int:
        """To buy: each is busy for `busy_share` at the peak."""
        return ceil(sum(self.cpu) / machines.busy_share)

    def memory_gb(self, machines: Machines) -> float:
        """Each Redis node has a replica, and each shard a standby."""
        processes = self.web_processes + self.worker_processes
        databases = 2 * (self.shards + 1) * _MEMORY_OF_DATABASE_GB
        return processes * costs.PROCESS_GB + 2 * self.redis_nodes * machines.redis_gb + databases


def compute_plan(load: SiteLoad, machines: Machines, shards: int | None = None) -> Plan:
    """`shards`: as many instead of as many as needed."""
    shards = shards or _shards_needed(load, machines)
    cpu = _cpu(load, shards)
    web = _processes(cpu.web, machines)
    workers = _processes(cpu.worker, machines)
    redis_gb = load.active_accounts * costs.READER_BYTES / 1e9
    index_tb = _index_rows(load) * costs.INDEX_ROW_BYTES / 1e12
    return Plan(
        shards=shards,
        cpu=cpu,
        web_processes=web,
        worker_processes=workers,
        redis_nodes=_redis_nodes(redis_gb, cpu.redis, machines),
        redis_gb=redis_gb,
        disk_tb=_data_tb(load) + shards * index_tb,
        index_tb_per_shard=index_tb,
        default_gb=load.accounts * costs.USER_BYTES / 1e9,
        wal_mb_per_shard=_wal_bytes(load, shards) / shards / 1e6,
        connections_per_shard=_connections(web, workers, machines),
    )


def _shards_needed(load: SiteLoad, machines: Machines) -> int:
    """By size, or by CPU. The index costs each shard the same, so it does not divide."""
    index_tb = _index_rows(load) * costs.INDEX_ROW_BYTES / 1e12
    room_tb = max(machines.shard_tb - index_tb, machines.shard_tb / 4)
    index_cores = costs.INDEX_ROW.times(load.posts).postgres / 1e6
    room_cores = machines.shard_cores * machines.busy_share
    room_cores = max(room_cores - index_cores, room_cores / 4)
    return max(1, ceil(_data_tb(load) / room_tb), ceil(_cpu(load, 0).postgres / room_cores))


def _cpu(load: SiteLoad, shards: int) -> CpuCost:
    """Busy cores."""
    again = load.reads * (1 - load.first_share)
    first = load.reads * (load.first_share - load.away_share)
    spent = (
        costs.PAGE_AGAIN.times(again),
        costs.FIRST_PAGE.times(max(first, 0)),
        costs.PAGE_OF_WHO_WAS_AWAY.times(load.reads * load.away_share),
        costs.POST.times(load.posts),
        costs.FAVOURITE.times(load.favourites),
        costs.FOLLOW.times(load.follows),
        costs.DELIVERY.times(load.posts * load.live_followers),
        costs.INDEX_ROW.times(load.posts * shards),
    )
    return CpuCost(*(sum(parts) / 1e6 for parts in zip(*spent, strict=True)))


def _processes(cores: float, machines: Machines) -> int:
    return max(1, ceil(cores / machines.busy_share))


def _redis_nodes(redis_gb: float, cores: float, machines: Machines) -> int:
    by_memory = ceil(redis_gb / (machines.redis_gb * _REDIS_FULL))
    return max(1, by_memory, ceil(cores / machines.busy_share))


def _data_tb(load: SiteLoad) -> float:
    """Follows, posts and the history of changes."""
    follows = load.accounts * load.followees * _ROWS_OF_A_FOLLOW * costs.EDGE_BYTES
    posts = load.accounts * load.posts_per_account * costs.POST_BYTES
    writes = load.posts + load.favourites + load.follows
    history = writes * DAY_S * settings.CHANGE_REPLAY_DAYS * costs.CHANGE_BYTES
    return (follows + posts + history) / 1e12


def _index_rows(load: SiteLoad) -> float:
    """On each shard. One day more than `RECENT_DAYS` is kept."""
    return load.posts * DAY_S * (settings.RECENT_DAYS + 1)


def _wal_bytes(load: SiteLoad, shards: int) -> float:
    """A second, over all shards."""
    return (
        load.posts * costs.POST_WAL_BYTES
        + load.posts * (shards - 1) * costs.INDEX_ROW_WAL_BYTES
        + load.follows * costs.FOLLOW_WAL_BYTES
        + load.favourites * costs.FAVOURITE_WAL_BYTES
    )


def _connections(web: int, workers: int, machines: Machines) -> int:
    """Most that the processes hold to one shard. `docs/how-to/deploy.md` counts them."""
    of_web = machines.web_threads + machines.web_threads // 2 + machines.scatter_threads
    of_worker = 3
    return web * of_web + workers * of_worker
