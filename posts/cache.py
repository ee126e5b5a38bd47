"""Post fragments by author and week (seed S0): complete or absent, kept about a week.

Weeks before the last two are seldom read; their posts come from the shard by key.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from redis.exceptions import RedisError

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import Command, redis
from infra.caching.hashes import HashCache, read_fields
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from posts.encode import PostRow, encode_post
from posts.ids import SEQUENCES, PostId, second_of
from posts.queries.rows import read_posts, read_ranges

WEEK_S = 7 * 86_400
CACHED_WEEKS = 2
MAX_WEEK_POSTS = 2_000  # a busier week is not worth one key: its posts come from the shard by key

WEEKS = HashCache("posts.week:v1", ttl_s=WEEK_S)

Fragments = dict[PostId, bytes]


class Week(NamedTuple):
    """One author's week since EPOCH."""

    author_id: int
    week: int


def week_of(post_id: PostId) -> Week:
    return Week(post_id.author_id, post_id.second // WEEK_S)


def field_of(post_id: PostId) -> str:
    return str(post_id.moment)


class PostReading(NamedTuple):
    """Which posts are asked of which cached week; posts of older weeks are left to the shard."""

    weeks: Mapping[Week, Sequence[PostId]]
    older: Sequence[PostId]

    def commands(self) -> list[Command]:
        return [
            WEEKS.read_command(week.author_id, week.week, [field_of(p) for p in ids])
            for week, ids in self.weeks.items()
        ]


def plan_reading(ids: Iterable[PostId], now_s: float) -> PostReading:
    """Sorts posts by the cache entry that has them."""
    oldest_cached = second_of(now_s) // WEEK_S - CACHED_WEEKS + 1
    weeks: dict[Week, list[PostId]] = {}
    older = []
    for post_id in dict.fromkeys(ids):
        if (week := week_of(post_id)).week >= oldest_cached:
            weeks.setdefault(week, []).append(post_id)
        else:
            older.append(post_id)
    return PostReading(weeks, older)


def complete_reading(reading: PostReading, replies: Sequence[Sequence[bytes | None] | None]) -> Fragments:
    """Fragments of the posts that exist; what Redis lacks comes from the shards.

    `replies` has one reply per command of the reading, None where Redis was away.
    Cost: nothing when all was cached; else one query per shard and reason, one round trip to fill.
    """
    found: Fragments = {}
    missing: list[Week] = []
    for (week, ids), reply in zip(reading.weeks.items(), replies, strict=True):
        values = read_fields(reply) if reply is not None else None
        if values is None:
            missing.append(week)
        else:
            found |= {i: value for i, value in zip(ids, values, strict=True) if value is not None}
    too_busy = fill_weeks(missing, found) if missing else []
    by_key = [*reading.older, *(i for week in too_busy for i in reading.weeks[week])]
    return found | load_by_key(by_key) if by_key else found


def load_by_key(ids: Iterable[PostId]) -> Fragments:
    """Fragments straight from the shards. One query per shard."""
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    groups = group_by_shard(by_author)
    calls = {
        alias: partial(read_posts, alias, [i for author in authors for i in by_author[author]])
        for alias, authors in groups.items()
    }
    return _encode(row for rows in scatter(calls).values() for row in rows)


def fill_weeks(weeks: Sequence[Week], found: Fragments) -> list[Week]:
    """Reads whole weeks, adds their posts to `found`, lays them in Redis; returns the too busy ones.

    The version is read before the rows: an entry may be newer than it says, never older.
    """
    by_author: dict[int, list[Week]] = {}
    for week in weeks:
        by_author.setdefault(week.author_id, []).append(week)
    calls = {
        alias: partial(_read_weeks, alias, [w for author in authors for w in by_author[author]])
        for alias, authors in group_by_shard(by_author).items()
    }
    loaded = {week: entry for part in scatter(calls).values() for week, entry in part.items()}
    usable = {week: entry for week, entry in loaded.items() if len(entry[1]) <= MAX_WEEK_POSTS}
    for _, fragments in usable.values():
        found |= fragments
    _lay(usable)
    return [week for week in loaded if week not in usable]


def _read_weeks(alias: str, weeks: Sequence[Week]) -> dict[Week, tuple[int, Fragments]]:
    """Version and posts of weeks of one shard's authors. Two queries."""
    counts = read_counts(alias, [week.author_id for week in weeks], [CounterKind.POSTS])
    length = WEEK_S * SEQUENCES
    spans = [(w.author_id, w.week * length, (w.week + 1) * length) for w in weeks]
    entries = {week: (counts[week.author_id][CounterKind.POSTS].version, {}) for week in weeks}
    for post_id, fragment in _encode(read_ranges(alias, spans, MAX_WEEK_POSTS + 1)).items():
        entries[week_of(post_id)][1][post_id] = fragment
    return entries


def _lay(entries: Mapping[Week, tuple[int, Fragments]]) -> None:
    commands = [
        WEEKS.put_command(
            week.author_id, week.week, version, {field_of(i): f for i, f in fragments.items()}
        )
        for week, (version, fragments) in entries.items()
    ]
    try:
        redis().run(commands)
    except RedisError:
        return  # the next reader tries again


def _encode(rows: Iterable[PostRow]) -> Fragments:
    return {PostId.at(row.author_id, row.moment): encode_post(row) for row in rows}


def load_posts(ids: Iterable[PostId], now_s: float | None = None) -> Fragments:
    """Fragments of the posts that exist. Cost: one round trip when warm."""
    reading = plan_reading(ids, time.time() if now_s is None else now_s)
    commands = reading.commands()
    try:
        replies = redis().run(commands)
    except RedisError:
        replies = [None] * len(commands)
    return complete_reading(reading, replies)
