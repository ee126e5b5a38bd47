"""Posts as the shards have them."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from infra.sharding.buckets import shard_of
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import fetch_all
from posts.encode import PostRow
from posts.ids import MAX_SECOND, SEQUENCES, PostId
from posts.types import Kind

BY_ID = """
SELECT author_id, moment, {text}, sensitive, {spoiler_text}, language,
    kind, target_author, target_moment
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
"""
SHOWN_BY_ID = f"""{BY_ID.format(text="text", spoiler_text="spoiler_text")}
WHERE deleted_at IS NULL AND hidden_at IS NULL"""
_WORDS = "CASE WHEN hidden_at IS NULL THEN {0} ELSE '' END AS {0}"
ANY_BY_ID = BY_ID.format(text=_WORDS.format("text"), spoiler_text=_WORDS.format("spoiler_text"))
RANGES = """
SELECT p.author_id, p.moment, text, sensitive, spoiler_text, language,
    kind, target_author, target_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS span (author_id, lower, upper)
CROSS JOIN LATERAL (
    SELECT * FROM posts_post
    WHERE author_id = span.author_id AND moment >= lower AND moment < upper
        AND deleted_at IS NULL AND hidden_at IS NULL
    ORDER BY moment DESC LIMIT %s
) p
"""
# The post itself, or the one it reposts.
SHOWN = """
    CASE kind WHEN 2 THEN target_author ELSE author_id END AS shown_author,
    CASE kind WHEN 2 THEN target_moment ELSE moment END AS shown_moment"""
TIMELINE = f"""
SELECT moment, {SHOWN} FROM posts_post
WHERE author_id = %s AND moment >= %s AND moment < %s AND deleted_at IS NULL
    AND kind = ANY(%s::smallint[])
ORDER BY moment {{order}} LIMIT %s
"""  # noqa: S608
ALL_KINDS = (Kind.POST, Kind.REPLY, Kind.REPOST)
PAST_ALL = (MAX_SECOND + 1) * SEQUENCES


def read_posts(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """Live posts of one shard by key, without those moderators hide. One query."""
    return _read(alias, SHOWN_BY_ID, ids)


def find_post_row(post_id: PostId) -> PostRow | None:
    """The post, also when it is deleted or hidden: then it has no words. One query by key."""
    rows = _read(shard_of(post_id.author_id), ANY_BY_ID, [post_id])
    return rows[0] if rows else None


def _read(alias: str, sql: str, ids: Sequence[PostId]) -> list[PostRow]:
    columns = [[post_id.author_id for post_id in ids], [post_id.moment for post_id in ids]]
    return [PostRow(*row) for row in fetch_all(alias, sql, columns)]


def read_ranges(alias: str, spans: Iterable[tuple[int, int, int]], limit: int) -> list[PostRow]:
    """Of (author, moment from, moment below) spans the newest `limit` each, as `read_posts`."""
    columns = [list(column) for column in zip(*spans, strict=True)]
    return [PostRow(*row) for row in fetch_all(alias, RANGES, [*columns, limit])]


def list_timeline(
    author_id: int,
    lower: int,
    upper: int,
    limit: int,
    newest_first: bool,
    kinds: Collection[int] = ALL_KINDS,
    may_trail: bool = False,
) -> list[tuple[PostId, PostId]]:
    """An author's live posts of moments from `lower` to below `upper`, each with the post it shows.

    Those that moderators hide are among them: to hide is no change of timelines.

    `may_trail`: a replica may answer; then posts that were deleted lately can be among them.
    One index-only scan.
    """
    sql = TIMELINE.format(order="DESC" if newest_first else "ASC")
    params = (author_id, lower, upper, [int(kind) for kind in kinds], limit)
    alias, read = shard_of(author_id), partial(fetch_all, sql=sql, params=params)
    rows = read_replica_or_shard(alias, read) if may_trail else read(alias)
    return [(PostId.at(author_id, moment), PostId.at(*shown)) for moment, *shown in rows]
