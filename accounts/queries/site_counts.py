"""About how many users and posts there are, for the description of the site."""

import threading
import time
from functools import partial
from typing import NamedTuple

import msgspec
import structlog
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError

from accounts.identities import queries as identities
from counters import sql as counters_sql
from counters.kinds import CounterKind
from infra.caching.decoding import decode
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import scatter
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one

# How long counts are used: those in Django's cache by all processes, those in memory by this one.
CACHED_S = 30
IN_PROCESS_S = 30
CACHE_NAME = "site_counts"
# Of a table with more rows a sample of about so many is counted and scaled up.
SAMPLE_ROWS = 100_000
SIZE = "SELECT reltuples FROM pg_class WHERE oid = %s::regclass"
USERS = "SELECT count(*) FROM accounts_user TABLESAMPLE SYSTEM (%s)"
POSTS = f"{counters_sql.SAMPLE_SUM} WHERE kind = {CounterKind.POSTS:d} AND subject = 0"
log = structlog.get_logger()


class SiteCounts(NamedTuple):
    users: int
    posts: int


class _Memory:
    """The last counts of this process. `fresh_until`: by the monotonic clock."""

    counts: SiteCounts | None = None
    fresh_until = 0.0
    loading = threading.Lock()


def get_site_counts() -> SiteCounts:
    """Exact for small sites, within a few percent for large ones; at most a minute old.

    If a database cannot be reached, the last counts stay; none count as zero. Cost: nothing, except
    every IN_PROCESS_S for one thread a read of Django's cache, and a few queries per database if no
    process counted in CACHED_S. The others use the last counts, and wait if there are none.
    """
    if time.monotonic() >= _Memory.fresh_until and _Memory.loading.acquire(_Memory.counts is None):
        try:
            _refresh()
        finally:
            _Memory.loading.release()
    return _Memory.counts or SiteCounts(0, 0)


def _refresh() -> None:
    if time.monotonic() < _Memory.fresh_until:  # by a thread that this one waited for
        return
    try:
        _Memory.counts = _load_counts()
    except (DatabaseError, InterfaceError) as error:
        log.warning("site_counts.not_refreshed", error=str(error))
    _Memory.fresh_until = time.monotonic() + IN_PROCESS_S


def _load_counts() -> SiteCounts:
    cached = decode("django", _decode_counts, cache.get(CACHE_NAME))
    if cached is not None:
        return cached
    counts = SiteCounts(_count_users(), _count_posts())
    cache.set(CACHE_NAME, counts, CACHED_S)
    return counts


def _decode_counts(cached: object) -> SiteCounts:
    """Raises ValidationError for JSON of another shape."""
    return msgspec.convert(cached, SiteCounts)


def _count_users() -> int:
    """People: objects of services have users too, so that their names are taken."""
    objects = _estimate(GLOBAL_ALIAS, identities.TABLE, identities.COUNT_OBJECTS)
    return max(0, _estimate(GLOBAL_ALIAS, "accounts_user", USERS) - objects)


def _count_posts() -> int:
    shards = [alias for alias in all_aliases() if alias != GLOBAL_ALIAS]
    calls = {alias: partial(_estimate, alias, counters_sql.TABLE, POSTS) for alias in shards}
    return sum(scatter(calls).values())


def _estimate(alias: str, table: str, sql: str) -> int:
    size = fetch_one(alias, SIZE, (table,))
    percent = min(100.0, 100.0 * SAMPLE_ROWS / max(size[0], 1)) if size else 100.0
    counted = fetch_one(alias, sql, (percent,))
    return int(float(counted[0]) * 100 / percent) if counted else 0
