"""What happened on the site in the last weeks: posts, tokens, new accounts, about."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from django.core.cache import cache

from accounts.sql import TOKENS_BY_WEEK, TOKENS_TABLE, USERS_BY_WEEK, USERS_TABLE
from infra.caching.decoding import decode
from infra.caching.single_flight import SingleFlight
from infra.sharding.buckets import owned_condition
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all, fetch_one
from posts.ids import EPOCH, SEQUENCES, second_of

WEEKS, WEEK_S = 12, 7 * 86_400
# Weeks begin on Mondays: 1970-01-05 was one.
MONDAY_S = 4 * 86_400
CACHED_S = 3_600
CACHE_NAME = "site_activity"
# Of a table with more rows a sample of about so many is counted and scaled up.
SAMPLE_ROWS = 100_000
# About how many rows a table has. Before its first ANALYZE PostgreSQL only knows the bytes.
SIZE = """
SELECT CASE WHEN reltuples < 0 THEN pg_relation_size(oid) / 100 ELSE reltuples END
FROM pg_class WHERE oid = %s::regclass
"""
POSTS = f"""
SELECT floor((moment / {SEQUENCES} + {EPOCH} - {MONDAY_S}) / {WEEK_S}.0)::bigint, count(*)
FROM posts_post TABLESAMPLE SYSTEM (%s)
WHERE moment >= %s AND deleted_at IS NULL AND {{owned}} GROUP BY 1
"""  # noqa: S608


class WeekOfSite(NamedTuple):
    """`began_s`: Monday midnight UTC, in Unix seconds. `logins`: tokens that were given out and not
    ended since."""

    began_s: int
    statuses: int
    logins: int
    registrations: int


# The first readers of a new hour count together.
_counts: SingleFlight[str, Sequence[WeekOfSite]] = SingleFlight()


def get_site_activity(now_s: float) -> Sequence[WeekOfSite]:
    """The last WEEKS weeks, this one first. Exact for small sites, else within a few percent; at
    most an hour old.

    Raises: OperationalError, InterfaceError. Cost: nothing but a read of Django's cache; once in
    CACHED_S two queries on each shard and four on the default database, each of SAMPLE_ROWS rows.
    """
    cached = decode("django", _decode, cache.get(CACHE_NAME))
    if cached is not None:
        return cached
    return _counts.load([CACHE_NAME], lambda _: _count_and_keep(now_s))[CACHE_NAME]


def _count_and_keep(now_s: float) -> dict[str, Sequence[WeekOfSite]]:
    weeks = _count(now_s)
    cache.set(CACHE_NAME, weeks, CACHED_S)
    return {CACHE_NAME: weeks}


def _decode(cached: object) -> list[WeekOfSite]:
    """Raises ValidationError for JSON of another shape."""
    return msgspec.convert(cached, list[WeekOfSite])


def _count(now_s: float) -> list[WeekOfSite]:
    this_week = int((now_s - MONDAY_S) // WEEK_S)
    first_s = (this_week - WEEKS + 1) * WEEK_S + MONDAY_S
    posts, users, tokens = _count_posts(first_s), _count_users(first_s), _count_tokens(first_s)
    return [
        WeekOfSite(week * WEEK_S + MONDAY_S, posts[week], tokens[week], users[week])
        for week in range(this_week, this_week - WEEKS, -1)
    ]


def _count_posts(first_s: int) -> Counter[int]:
    calls = {}
    for alias in shard_aliases():
        sql = POSTS.format(owned=owned_condition(alias, "author_id"))
        moment = second_of(first_s) * SEQUENCES
        calls[alias] = partial(_estimate, alias, "posts_post", sql, moment)
    return sum(scatter(calls).values(), Counter[int]())


def _count_users(first_s: int) -> Counter[int]:
    sql = USERS_BY_WEEK.format(monday_s=MONDAY_S, week_s=WEEK_S)
    return _estimate(GLOBAL_ALIAS, USERS_TABLE, sql, first_s)


def _count_tokens(first_s: int) -> Counter[int]:
    sql = TOKENS_BY_WEEK.format(monday_s=MONDAY_S, week_s=WEEK_S)
    return _estimate(GLOBAL_ALIAS, TOKENS_TABLE, sql, first_s)


def _estimate(alias: str, table: str, sql: str, first: int) -> Counter[int]:
    """By week. `sql`: its parameters are a percentage and where the first week begins."""
    size = fetch_one(alias, SIZE, (table,))
    percent = min(100.0, 100.0 * SAMPLE_ROWS / max(size[0], 1)) if size else 100.0
    rows = fetch_all(alias, sql, (percent, first))
    return Counter({week: int(count * 100 / percent) for week, count in rows})
