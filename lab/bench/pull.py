"""Rebuilds of timelines with many followees, from the recent-posts index and from the posts tables.

The index has the last week of the posts. Most followees are on other shards than the reader.
"""

import statistics
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import SEQUENCES, second_of
from posts.sql import ANALYZE_POSTS, INSERT_POSTS
from timelines.queries.pull import pull_from_tables
from timelines.recent.days import PARTITIONS, first_second, kept_days, oldest_read
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.recent.queries.recent_posts import load_recent
from timelines.sql import ANALYZE_RECENT_POSTS, INSERT_RECENT_POSTS
from timelines.types import TimelineAuthors, TimeRange

AUTHORS, POSTS_EACH = 20_000, 24
DAYS = 14  # with posts; half of them are in the index
FOLLOWEES = (500, 2_000, 10_000)
FIRST_AUTHOR = 2_000_000_000
ROUNDS = 9
MADE = f"""
SELECT %(first)s::bigint + n %% %(authors)s AS author_id,
    (%(now)s::bigint - n * {DAYS} * 86400::bigint / %(posts)s) * {SEQUENCES} AS moment
FROM generate_series(1, %(posts)s) AS n
"""
WRITE = f"""
{INSERT_POSTS}
SELECT author_id, moment, 'A post', false, '' FROM ({MADE}) AS made
WHERE mod(author_id, %(shards)s) = %(shard)s
"""
INDEX = f"""
{INSERT_RECENT_POSTS}
SELECT author_id, moment FROM ({MADE}) AS made WHERE moment >= %(oldest)s::bigint * {SEQUENCES}
"""


def measure() -> dict[str, Any]:
    """Median ms of a pull of a whole timeline, both ways in turn, by number of followees."""
    _fill()
    return {str(count): _compare(count) for count in FOLLOWEES}


def _fill() -> None:
    """Writes rows straight into the tables, because publishing is slow."""
    today, aliases = datetime.now(UTC).date(), settings.SHARD_ALIASES
    oldest = first_second(oldest_read(today))
    known = {"first": FIRST_AUTHOR, "authors": AUTHORS, "posts": AUTHORS * POSTS_EACH}
    known |= {"now": second_of(time.time()), "oldest": oldest, "shards": len(aliases)}
    for alias in aliases:
        shard = next(n for n in range(len(aliases)) if shard_of(FIRST_AUTHOR + n) == alias)
        shard = (FIRST_AUTHOR + shard) % len(aliases)
        PARTITIONS.make(alias, kept_days(today))
        execute(alias, WRITE, known | {"shard": shard})
        execute(alias, INDEX, known)
        lower_low_water_mark(alias, oldest)
        execute(alias, ANALYZE_POSTS)
        execute(alias, ANALYZE_RECENT_POSTS)


def _compare(count: int) -> dict[str, float]:
    step = AUTHORS // count
    circle = TimelineAuthors(
        FIRST_AUTHOR + 1, range(FIRST_AUTHOR + 2, FIRST_AUTHOR + AUTHORS, step)[:count]
    )
    most = settings.TIMELINE_ENTRIES
    index = partial(load_recent, circle, TimeRange(), most)
    tables = partial(pull_from_tables, circle.author_ids, TimeRange(), most)
    if index().entries != tables():
        raise AssertionError("index and tables do not agree")
    times = [(_ms(index), _ms(tables)) for _ in range(ROUNDS)]
    ours, theirs = (round(statistics.median(column), 1) for column in zip(*times, strict=True))
    return {"index_ms": ours, "tables_ms": theirs, "ratio": round(theirs / ours, 1)}


def _ms(act: Any) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000
