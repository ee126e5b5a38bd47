"""Posts as the shards have them."""

from collections.abc import Iterable, Sequence

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.encode import PostRow
from posts.ids import MAX_SECOND, SEQUENCES, PostId

BY_ID = """
SELECT author_id, moment, text, sensitive, spoiler_text, language
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment) WHERE deleted_at IS NULL
"""
RANGES = """
SELECT p.author_id, p.moment, text, sensitive, spoiler_text, language
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS span (author_id, lower, upper)
CROSS JOIN LATERAL (
    SELECT * FROM posts_post
    WHERE author_id = span.author_id AND moment >= lower AND moment < upper
        AND deleted_at IS NULL
    ORDER BY moment DESC LIMIT %s
) p
"""
MOMENTS = """
SELECT moment FROM posts_post
WHERE author_id = %s AND moment >= %s AND moment < %s AND deleted_at IS NULL
ORDER BY moment {order} LIMIT %s
"""
PAST_ALL = (MAX_SECOND + 1) * SEQUENCES


def read_posts(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """Live posts of one shard by key. One query."""
    columns = [[post_id.author_id for post_id in ids], [post_id.moment for post_id in ids]]
    return [PostRow(*row) for row in fetch_all(alias, BY_ID, columns)]


def read_ranges(alias: str, spans: Iterable[tuple[int, int, int]], limit: int) -> list[PostRow]:
    """Live posts of (author, moment from, moment below) spans, the newest `limit` of each."""
    columns = [list(column) for column in zip(*spans, strict=True)]
    return [PostRow(*row) for row in fetch_all(alias, RANGES, [*columns, limit])]


def list_moments(
    author_id: int, lower: int, upper: int, limit: int, newest_first: bool
) -> list[int]:
    """Moments of an author's live posts from `lower` to below `upper`. One index-only scan."""
    sql = MOMENTS.format(order="DESC" if newest_first else "ASC")
    rows = fetch_all(shard_of(author_id), sql, (author_id, lower, upper, limit))
    return [row[0] for row in rows]
