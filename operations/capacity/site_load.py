"""What a site carries at its busiest hour, and the machines that it may use."""

from typing import NamedTuple


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
