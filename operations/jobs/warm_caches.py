"""Loads the cache entries of often read accounts before the first page needs them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.client import redis
from infra.caching.keys import key
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.buckets import shard_of
from posts.cache.weeks import CACHED_WEEKS, WEEK_S, WEEKS, begin_weeks, fill_weeks
from posts.ids import second_of
from timelines.hot.entries import HOT_ENTRIES_FAMILY, load_hot_entries
from timelines.hot.queries.hot_authors import list_hot_authors, list_unpushed_authors


class CacheEntry(NamedTuple):
    """A cache entry of an account. `load` fills the entries of this sort for many accounts."""

    key: bytes
    account_id: int
    load: Callable[[Sequence[int]], object]


def warm_caches(work: Work, now_s: float, announced: Sequence[int] = ()) -> Iterator[Batch]:
    """Loads missing profiles, counts and recent posts of hot authors, of one account, or of those
    that many will look at soon.

    Raises RedisError. Cost per batch of accounts: one query and one round trip, plus the loads
    that the first readers would have paid.
    """
    for alias, rows, position in walk(work, partial(_read, work.account_id, announced)):
        entries = list_entries(alias, [row[0] for row in rows], now_s)
        present = redis().run([("EXISTS", entry.key) for entry in entries])
        missing = [entry for entry, is_there in zip(entries, present, strict=True) if not is_there]
        if not work.dry_run:
            _load_missing(missing)
        lines = [entry.key.decode() for entry in missing]
        yield Batch(len(rows), 0, alias, len(missing), position, lines)


def list_entries(alias: str, account_ids: Sequence[int], now_s: float) -> list[CacheEntry]:
    """All entries that these accounts of one shard can have, cached or not. Cost: one query."""
    this_week = second_of(now_s) // WEEK_S
    entries = []
    for account_id in account_ids:
        entries.append(CacheEntry(profiles.key(account_id), account_id, profiles.load_many))
        entries.append(
            CacheEntry(account_counts.key(account_id), account_id, account_counts.load_many)
        )
    for week in range(this_week - CACHED_WEEKS + 1, this_week + 1):
        load = partial(_fill_week, week)
        entries += [
            CacheEntry(WEEKS.key(account_id, week), account_id, load) for account_id in account_ids
        ]
    hot = sorted(list_unpushed_authors(alias, account_ids))
    return entries + [
        CacheEntry(key(HOT_ENTRIES_FAMILY, author_id), author_id, load_hot_entries)
        for author_id in hot
    ]


def _load_missing(entries: Sequence[CacheEntry]) -> None:
    by_load: dict[Callable[[Sequence[int]], object], list[int]] = {}
    for entry in entries:
        by_load.setdefault(entry.load, []).append(entry.account_id)
    for load, account_ids in by_load.items():
        load(account_ids)


def _fill_week(week: int, account_ids: Sequence[int]) -> None:
    weeks = [(account_id, week) for account_id in account_ids]
    fill_weeks(weeks, begin_weeks(weeks))


def _read(
    account_id: int | None, announced: Sequence[int], alias: str, after: Key | None, count: int
) -> list[Row]:
    if account_id is not None:
        return [] if after else [(account_id,)]
    start = after[0] if after else 0
    mine = [account for account in announced if shard_of(account) == alias]
    authors = sorted(mine if announced else list_hot_authors(alias))
    return [(author,) for author in authors if author > start][:count]
