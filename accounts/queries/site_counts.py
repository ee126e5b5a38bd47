"""How much there is of everything, roughly: for the page that describes the site."""

import time
from functools import partial
from typing import NamedTuple

import structlog
from django.db import DatabaseError, InterfaceError

from counters.kinds import CounterKind
from infra.sharding.placement import GLOBAL_ALIAS, all_aliases
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_one

KEPT_S = 60
# Rows looked at in one table; of larger tables a sample is counted and scaled up.
SAMPLE_ROWS = 100_000
SIZE = "SELECT reltuples FROM pg_class WHERE oid = %s::regclass"
USERS = "SELECT count(*) FROM accounts_user TABLESAMPLE SYSTEM (%s)"
POSTS = f"""
SELECT coalesce(sum(value), 0) FROM counters_counter TABLESAMPLE SYSTEM (%s)
WHERE kind = {CounterKind.POSTS:d} AND subject = 0
"""  # noqa: S608 - a constant
log = structlog.get_logger()


class SiteCounts(NamedTuple):
    users: int
    posts: int


class _Memory:
    """The last counts of this process, and until when the monotonic clock finds them fresh."""

    counts = SiteCounts(0, 0)
    fresh_until = 0.0


def get_site_counts() -> SiteCounts:
    """Exact for small sites, within a few percent for large ones; at most KEPT_S old.

    While a database is out of reach the last counts stay. Cost: nothing, and once a KEPT_S two
    queries per database.
    """
    if time.monotonic() >= _Memory.fresh_until:
        _Memory.fresh_until = time.monotonic() + KEPT_S
        try:
            _Memory.counts = SiteCounts(_count_users(), _count_posts())
        except (DatabaseError, InterfaceError) as error:
            log.warning("site_counts.not_refreshed", error=str(error))
    return _Memory.counts


def _count_users() -> int:
    return _estimate(GLOBAL_ALIAS, "accounts_user", USERS)


def _count_posts() -> int:
    shards = [alias for alias in all_aliases() if alias != GLOBAL_ALIAS]
    calls = {alias: partial(_estimate, alias, "counters_counter", POSTS) for alias in shards}
    return sum(scatter(calls).values())


def _estimate(alias: str, table: str, sql: str) -> int:
    size = fetch_one(alias, SIZE, (table,))
    percent = min(100.0, 100.0 * SAMPLE_ROWS / max(size[0], 1)) if size else 100.0
    counted = fetch_one(alias, sql, (percent,))
    return int(float(counted[0]) * 100 / percent) if counted else 0
