"""Computes what a load needs. All sizes are for the whole site unless a name says otherwise.

What the product costs on one machine. `docs/explanation/performance.md` has the runs.

Costs of another machine differ by a factor, which is the same for all of them: compare the bare
view's 73 µs with `lab.bench --only first_reads` there.

What a site carries at its busiest hour, and the machines that it may use.
"""

from math import ceil
from typing import NamedTuple

from django.conf import settings


class SiteLoad(NamedTuple):
    """Rates are a second, at the peak. Shares are from 0 to 1."""

    accounts: float
    active_share: float
    """of the accounts, who read within `TIMELINE_LIVE_DAYS`: their timelines are in Redis"""
    followees: float
    posts_per_account: float
    """that are stored"""
    reads: float
    """pages a second"""
    first_share: float
    """of the reads, that meet a process which does not know the reader"""
    away_share: float
    """of the reads, by a reader whose timeline must be built again"""
    posts: float
    favourites: float
    follows: float

    @property
    def active_accounts(self) -> float:
        return self.accounts * self.active_share

    @property
    def live_followers(self) -> float:
        """Of a mean post, whose timelines are in Redis. Each follow has one follower."""
        return self.followees * self.active_share


class Machines(NamedTuple):
    """What one server gives, and how full it may be."""

    shard_tb: float
    """the data that one shard may have"""
    shard_cores: float
    redis_gb: float
    """the memory of one Redis node"""
    busy_share: float
    """of a core, at the peak"""
    web_threads: int
    scatter_threads: int
    connections: int
    """that one PostgreSQL server accepts"""
    pool_size: int = 0
    """sessions that all pools together open to one shard for web servers; 0: there are no pools"""


class Prices(NamedTuple):
    """In one currency, for a month."""

    core: float
    memory_gb: float
    disk_gb: float


class CpuCost(NamedTuple):
    """µs of CPU, by who spends it."""

    web: float
    worker: float = 0.0
    postgres: float = 0.0
    redis: float = 0.0

    def times(self, count: float) -> "CpuCost":
        return CpuCost(*(count * part for part in self))


# Pages: `--only first_reads` and `--only reads`, 2026-11-27.
FIRST_PAGE = CpuCost(1_333, redis=213)
PAGE_AGAIN = CpuCost(263, redis=59)
PAGE_OF_WHO_WAS_AWAY = CpuCost(7_167, postgres=5_333, redis=932)
# Writes: `--only writes`, at 200 a second, 2026-11-27. A favourite was not measured at that rate.
POST = CpuCost(2_510, 2_580, 2_960, 500)
FOLLOW = CpuCost(2_670, 2_240, 3_210, 700)
FAVOURITE = FOLLOW
# A post into one live timeline.
DELIVERY = CpuCost(0, 2.7, 1.7, 2.0)
# A row of the recent-posts index, in statements of about ten rows.
INDEX_ROW = CpuCost(0, 0, 52)

# Bytes on disk, with their indexes.
EDGE_BYTES, POST_BYTES, CHANGE_BYTES, INDEX_ROW_BYTES = 206, 700, 423, 113
# A user with three tokens, in the default database.
USER_BYTES = 2_500
# Bytes of PostgreSQL's log, later than the first write after a checkpoint.
POST_WAL_BYTES, FOLLOW_WAL_BYTES, FAVOURITE_WAL_BYTES, INDEX_ROW_WAL_BYTES = (
    3_218,
    3_275,
    3_134,
    350,
)
# Bytes in Redis of a reader whose timeline is live: timeline; relations; share of posts and counts.
READER_BYTES = 10_200 + 2_264 + 5_000
# A web process has one core, and a worker too.
PROCESS_GB = 0.25

DAY_S = 86_400
# A follow has a row with its follower, and one with its followee.
_ROWS_OF_A_FOLLOW = 2
# Memory that a Redis node may use of its own. The others are for copies while it saves or syncs.
_REDIS_FULL = 0.75
# A server of PostgreSQL has memory for this share of its data, between these bounds.
_MEMORY_SHARE, _LEAST_MEMORY_GB, _MOST_MEMORY_GB = 1 / 16, 1, 64
# Of a worker, for each database.
_WORKER_THREADS = 3
# Commands, a move, an operator, monitoring.
_COMMANDS = 10


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
    web_connections: int
    """to each shard, of web servers or of their pools"""
    direct_connections: int
    """to each shard, of workers, the compensator and commands"""

    @property
    def connections_per_shard(self) -> int:
        return self.web_connections + self.direct_connections

    @property
    def database_cores(self) -> float:
        return self.cpu.postgres

    def cores(self, machines: Machines) -> int:
        """To buy: each is busy for `busy_share` at the peak."""
        return ceil(sum(self.cpu) / machines.busy_share)

    def memory_gb(self, machines: Machines) -> float:
        """Each Redis node has a replica, and each shard a standby."""
        processes = self.web_processes + self.worker_processes
        of_shard = _database_memory_gb(1_000 * self.disk_tb / self.shards)
        databases = 2 * (self.shards * of_shard + _database_memory_gb(self.default_gb))
        redis = 2 * min(self.redis_nodes * machines.redis_gb, self.redis_gb / _REDIS_FULL)
        return processes * PROCESS_GB + redis + databases


def compute_plan(
    load: SiteLoad, machines: Machines, shards: int | None = None, web_processes: int | None = None
) -> Plan:
    """`shards`, `web_processes`: as many instead of as many as needed."""
    shards = shards or _shards_needed(load, machines)
    cpu = _cpu(load, _index_copies(shards))
    web = web_processes or _processes(cpu.web, machines)
    workers = _processes(cpu.worker, machines)
    redis_gb = load.active_accounts * READER_BYTES / 1e9
    index_tb = _index_tb(load) * _index_copies(shards) / shards
    return Plan(
        shards=shards,
        cpu=cpu,
        web_processes=web,
        worker_processes=workers,
        redis_nodes=_redis_nodes(redis_gb, cpu.redis, machines),
        redis_gb=redis_gb,
        disk_tb=_data_tb(load) + shards * index_tb,
        index_tb_per_shard=index_tb,
        default_gb=load.accounts * USER_BYTES / 1e9,
        wal_mb_per_shard=_wal_bytes(load, shards) / shards / 1e6,
        web_connections=_web_connections(web, machines),
        direct_connections=_direct_connections(shards, workers, machines),
    )


def _database_memory_gb(data_gb: float) -> float:
    return min(max(data_gb * _MEMORY_SHARE, _LEAST_MEMORY_GB), _MOST_MEMORY_GB)


def _shards_needed(load: SiteLoad, machines: Machines) -> int:
    """By size, or by CPU. An index on every shard does not divide: it leaves less room on each."""
    on_each = 1 if _index_copies(2) > 1 else 0
    index_cores = INDEX_ROW.times(load.posts).postgres / 1e6
    room_tb = _room(machines.shard_tb, on_each * _index_tb(load))
    room_cores = _room(machines.shard_cores * machines.busy_share, on_each * index_cores)
    data_tb = _data_tb(load) + (1 - on_each) * _index_tb(load)
    cores = _cpu(load, 0).postgres + (1 - on_each) * index_cores
    return max(1, ceil(data_tb / room_tb), ceil(cores / room_cores))


def _room(whole: float, index: float) -> float:
    """What the index leaves of a shard: a quarter at least, or no number of shards is enough."""
    return max(whole - index, whole / 4)


def _index_copies(shards: int) -> int:
    """How many shards have a row for each post."""
    return shards if settings.RECENT_INDEX == "replicated" else 1


def _cpu(load: SiteLoad, copies: int) -> CpuCost:
    """Busy cores, with so many copies of the recent-posts index."""
    again = load.reads * (1 - load.first_share)
    first = load.reads * (load.first_share - load.away_share)
    spent = (
        PAGE_AGAIN.times(again),
        FIRST_PAGE.times(max(first, 0)),
        PAGE_OF_WHO_WAS_AWAY.times(load.reads * load.away_share),
        POST.times(load.posts),
        FAVOURITE.times(load.favourites),
        FOLLOW.times(load.follows),
        DELIVERY.times(load.posts * load.live_followers),
        INDEX_ROW.times(load.posts * copies),
    )
    return CpuCost(*(sum(parts) / 1e6 for parts in zip(*spent, strict=True)))


def _processes(cores: float, machines: Machines) -> int:
    return max(1, ceil(cores / machines.busy_share))


def _redis_nodes(redis_gb: float, cores: float, machines: Machines) -> int:
    by_memory = ceil(redis_gb / (machines.redis_gb * _REDIS_FULL))
    return max(1, by_memory, ceil(cores / machines.busy_share))


def _data_tb(load: SiteLoad) -> float:
    """Follows, posts and the history of changes."""
    follows = load.accounts * load.followees * _ROWS_OF_A_FOLLOW * EDGE_BYTES
    posts = load.accounts * load.posts_per_account * POST_BYTES
    writes = load.posts + load.favourites + load.follows
    history = writes * DAY_S * settings.CHANGE_REPLAY_DAYS * CHANGE_BYTES
    return (follows + posts + history) / 1e12


def _index_tb(load: SiteLoad) -> float:
    """One copy. One day more than `RECENT_DAYS` is kept."""
    rows = load.posts * DAY_S * (settings.RECENT_DAYS + 1)
    return rows * INDEX_ROW_BYTES / 1e12


def _wal_bytes(load: SiteLoad, shards: int) -> float:
    """A second, over all shards."""
    return (
        load.posts * POST_WAL_BYTES
        + load.posts * (_index_copies(shards) - 1) * INDEX_ROW_WAL_BYTES
        + load.follows * FOLLOW_WAL_BYTES
        + load.favourites * FAVOURITE_WAL_BYTES
    )


def _web_connections(processes: int, machines: Machines) -> int:
    """Most that web servers hold to one shard, or that the pools in front of it hold together."""
    each = machines.web_threads + machines.web_threads // 2 + machines.scatter_threads
    without_pool = processes * each
    return min(without_pool, machines.pool_size) if machines.pool_size else without_pool


def _direct_connections(shards: int, workers: int, machines: Machines) -> int:
    """Most that workers and a compensator hold to one shard.

    Each database is drained by some worker: by three threads, which hold two connections to it and
    one to each other. The compensator has one such thread for each.
    """
    of_drains = (_WORKER_THREADS + 1) * (2 + shards)
    return of_drains + (workers + 1) * machines.scatter_threads + _COMMANDS
