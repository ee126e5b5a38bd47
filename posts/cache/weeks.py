"""The week cache: fragments of posts by author and week (seed S0). TTL about a week.

    posts.week:v6:<site>:{author}:week   ! version, moment → fragment …, or ! version, busy → 1

An entry has all live posts of its week. Only this week and the last one are cached so: older posts
are read one by one. A week with more than MAX_WEEK_POSTS is marked busy. Posts outside the cached
weeks and posts of busy weeks have entries of their own (single_posts.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.hashes import HashCache, HashFields
from infra.caching.load_tokens import LoadTokens, begin_loads, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, Replies, answer, ask_both, ask_each
from infra.caching.round_trips import run_together
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from posts.cache.single_posts import SITE, Fragments, ask_single_posts, encode_rows
from posts.fragments.read import check_fragments
from posts.ids import SEQUENCES, PostId, second_of
from posts.queries.replica_reads import (
    Authors,
    read_up_to_date,
    read_versions,
)
from posts.queries.rows import read_ranges
from posts.types import PostRow

WEEK_S = 7 * 86_400
CACHED_WEEKS = 2
MAX_WEEK_POSTS = 2_000
BUSY = "busy"  # the field of a week with more than MAX_WEEK_POSTS

WEEKS = HashCache(f"posts.week:v6:{SITE}", ttl_s=WEEK_S)

Week = tuple[int, int]  # an author, and the number of a week since EPOCH


def week_of(post_id: PostId) -> Week:
    return post_id.author_id, post_id.second // WEEK_S


def field_of(post_id: PostId) -> str:
    return str(post_id.moment)


class _PostsByWeek(NamedTuple):
    """The posts to read, by cached week, and the fields that have them. `others`: older posts."""

    weeks: Mapping[Week, Sequence[PostId]]
    fields: Mapping[Week, Sequence[str]]
    others: Sequence[PostId]


class _CachedWeek(NamedTuple):
    """`posts` None: the week is busy."""

    posts: Fragments | None


def ask_weeks(ids: Iterable[PostId], now_s: float) -> Question[Fragments]:
    """Fragments of the posts that exist. Posts that Redis lacks are read from the shards.

    Cost: one command a week, and one for all old posts. Nothing more if all posts were cached; else
    at most two queries per shard, and two round trips to write what was missing. Posts of busy
    weeks cost one more trip.
    """
    posts = _group_by_week(ids, now_s)
    keys = WEEKS.keys(posts.weeks)
    commands = [
        ("HMGET", where, "!", BUSY, *fields)
        for where, fields in zip(keys, posts.fields.values(), strict=True)
    ]
    weeks = Question(commands, partial(_read_or_load, posts))
    if not posts.others:
        return weeks
    return ask_both(weeks, ask_single_posts(posts.others)).then(lambda parts: parts[0] | parts[1])


def _read_or_load(posts: _PostsByWeek, replies: Replies) -> Fragments:
    cached = _read_cached(list(posts.weeks.values()), replies)
    if cached is None:
        return _complete(posts, _ask_each_week(posts.weeks).decode(replies))
    return cached


def _read_cached(weeks: Sequence[Sequence[PostId]], replies: Replies) -> Fragments | None:
    """The posts, as most reads find them. None: one of the weeks is missing, busy or unreadable."""
    return decode(WEEKS.family, partial(_read_all_weeks, weeks), replies)


def _read_all_weeks(weeks: Sequence[Sequence[PostId]], replies: Sequence[Any]) -> Fragments | None:
    cached: Fragments = {}
    for ids, (version, busy, *values) in zip(weeks, replies, strict=True):
        if version is None or busy is not None or not version.isdigit():
            return None
        cached.update(zip(ids, values, strict=True))
    return _existing(cached)


def _group_by_week(ids: Iterable[PostId], now_s: float) -> _PostsByWeek:
    """Groups posts by the cache entry that they are in."""
    this_week = second_of(now_s) // WEEK_S
    # No future weeks: ids that a client makes up would fill Redis with empty weeks.
    cached = range(this_week - CACHED_WEEKS + 1, this_week + 1)
    weeks: dict[Week, list[PostId]] = {}
    fields: dict[Week, list[str]] = {}
    others = []
    for post_id in dict.fromkeys(ids):
        second, author_id, sequence = post_id
        week = author_id, second // WEEK_S
        if week[1] in cached:
            weeks.setdefault(week, []).append(post_id)
            fields.setdefault(week, []).append(str(second * SEQUENCES + sequence))
        else:
            others.append(post_id)
    return _PostsByWeek(weeks, fields, others)


def _complete(posts: _PostsByWeek, cached: Mapping[Week, _CachedWeek | None]) -> Fragments:
    """The posts of the weeks. Those that are not cached come from the shards."""
    shown: Fragments = {}
    missing, single = [], list[PostId]()
    for week, entry in cached.items():
        if entry is None:
            missing.append(week)
        elif entry.posts is None:
            single += posts.weeks[week]
        else:
            shown |= entry.posts
    for week, fragments in _load_missing(posts, missing).items() if missing else ():
        if fragments is None:
            single += posts.weeks[week]
        else:
            shown |= fragments
    return shown | answer(ask_single_posts(single)) if single else shown


def _load_missing(posts: _PostsByWeek, weeks: Sequence[Week]) -> dict[Week, Fragments | None]:
    """The wanted posts of these weeks, which this thread or another one loads.

    None for a busy week.
    """
    loads = SharedLoads(WEEKS.family, _key_of, partial(_ask_entries, posts), fill_weeks)
    return loads.load_missing(weeks)


def _ask_entries(
    posts: _PostsByWeek, weeks: Sequence[Week]
) -> Question[dict[Week, Fragments | None]]:
    """The wanted posts of the weeks that are cached."""
    asked = _ask_each_week({week: posts.weeks[week] for week in weeks})
    return asked.then(lambda read: {week: entry.posts for week, entry in read.items() if entry})


def _ask_each_week(
    wanted: Mapping[Week, Sequence[PostId]],
) -> Question[dict[Week, _CachedWeek | None]]:
    return ask_each({week: _ask_week(week, ids) for week, ids in wanted.items()})


def _ask_week(week: Week, ids: Sequence[PostId]) -> Question[_CachedWeek | None]:
    """These posts of a cached week. None: the week is not cached, or one cannot be read."""
    return WEEKS.ask(*week, [BUSY, *map(field_of, ids)]).then(partial(_read_week, ids))


def _read_week(ids: Sequence[PostId], values: HashFields | None) -> _CachedWeek | None:
    if values is None:
        return None
    if values[0] is not None:
        return _CachedWeek(None)
    known = decode(WEEKS.family, partial(_read_posts, ids), values[1:])
    return None if known is None else _CachedWeek(known)


def _read_posts(ids: Sequence[PostId], values: Sequence[bytes | None]) -> Fragments:
    """The posts of a cached week that exist. Raises ValueError if one cannot be read."""
    return _existing(dict(zip(ids, values, strict=True)))


def _existing(values: Mapping[PostId, bytes | None]) -> Fragments:
    existing = {post_id: value for post_id, value in values.items() if value is not None}
    check_fragments(existing.values())
    return existing


def _key_of(week: Week) -> bytes:
    return WEEKS.key(*week)


def begin_weeks(weeks: Sequence[Week]) -> LoadTokens:
    """For `fill_weeks`. One round trip."""
    return begin_loads(WEEKS.family, [_key_of(week) for week in weeks])


def fill_weeks(weeks: Sequence[Week], tokens: LoadTokens) -> dict[Week, Fragments | None]:
    """Reads whole weeks from their shards and writes them to Redis. None for a busy week.

    The version comes from the shard, before the rows: an entry may be newer than its version, never
    older. Cost: two queries per shard, one round trip; with a replica as read_up_to_date.
    """
    by_author: dict[int, list[Week]] = {}
    for week in weeks:
        by_author.setdefault(week[0], []).append(week)
    calls = {
        alias: partial(_read_weeks, alias, [w for author in authors for w in by_author[author]])
        for alias, authors in group_by_shard(by_author).items()
    }
    loaded = {week: entry for part in scatter(calls).values() for week, entry in part.items()}
    failpoint("posts.weeks_read")
    written = (WEEKS.write_commands(*w, tokens, v, _fields(f)) for w, (v, f) in loaded.items())
    write_loaded(WEEKS.family, [command for week in written for command in week])
    return {week: fragments for week, (_, fragments) in loaded.items()}


def _read_weeks(alias: str, weeks: Sequence[Week]) -> dict[Week, tuple[int, Fragments | None]]:
    """Version and posts of each week, all on one shard. Cost: one query and read_up_to_date's."""
    versions = read_versions(alias, {author_id for author_id, _ in weeks})
    rows = read_up_to_date(alias, versions, partial(_read_rows, weeks))
    posts: dict[Week, Fragments] = {week: {} for week in weeks}
    for post_id, fragment in encode_rows(rows).items():
        posts[week_of(post_id)][post_id] = fragment
    return {
        week: (
            versions[week[0]],
            fragments if len(fragments) <= MAX_WEEK_POSTS else None,
        )
        for week, fragments in posts.items()
    }


def _read_rows(weeks: Sequence[Week], alias: str, authors: Authors) -> list[PostRow]:
    length = WEEK_S * SEQUENCES
    spans = [(a, week * length, (week + 1) * length) for a, week in weeks if a in authors]
    return read_ranges(alias, spans, MAX_WEEK_POSTS + 1)


def _fields(fragments: Fragments | None) -> dict[str, bytes]:
    """The hash of a loaded week. None: of a busy one."""
    if fragments is None:
        return {BUSY: b"1"}
    return {field_of(post_id): fragment for post_id, fragment in fragments.items()}


def drop_large_weeks(weeks: Sequence[Week]) -> None:
    """Drops cached weeks that changes have grown above MAX_WEEK_POSTS.

    The next reader marks them as busy. Cost: one round trip, which it may share, and one more if
    there are any.
    """
    run_together([("HLEN", WEEKS.key(*week)) for week in weeks], partial(_drop_large, weeks))


def _drop_large(weeks: Sequence[Week], sizes: Sequence[int] | None) -> None:
    if sizes is None:
        return
    read = zip(weeks, sizes, strict=True)
    # One field is the version.
    large = [week for week, size in read if size > MAX_WEEK_POSTS + 1]
    redis().run([WEEKS.drop_command(*week) for week in large])
