"""Posts as their shards store them."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import fetch_all, fetch_one
from posts.ids import MAX_SECOND, SEQUENCES, PostId
from posts.sql import LIVE_EVENTS
from posts.types import Kind, PostRow

BY_ID = """
SELECT author_id, moment, {text}, sensitive, {spoiler_text}, language,
    kind, target_author, target_moment
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
"""
SHOWN_BY_ID = f"""{BY_ID.format(text="text", spoiler_text="spoiler_text")}
WHERE deleted_at IS NULL AND hidden_at IS NULL"""
_UNLESS_HIDDEN = "CASE WHEN hidden_at IS NULL THEN {0} ELSE '' END AS {0}"
ANY_BY_ID = BY_ID.format(
    text=_UNLESS_HIDDEN.format("text"), spoiler_text=_UNLESS_HIDDEN.format("spoiler_text")
)
WITH_TEXT = """
SELECT text, spoiler_text, deleted_at IS NOT NULL, hidden_at IS NOT NULL FROM posts_post
WHERE author_id = %s AND moment = %s
"""
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
TIMELINE = f"""
{LIVE_EVENTS} AND author_id = %s AND moment >= %s AND moment < %s AND kind = ANY(%s::smallint[])
ORDER BY moment {{order}} LIMIT %s
"""
NEWEST = """
SELECT moment, kind, target_author, target_moment FROM posts_post
WHERE deleted_at IS NULL AND author_id = %s ORDER BY moment DESC LIMIT %s
"""
# Mastodon's public timeline has no reposts, and of the replies only those to oneself.
ON_PUBLIC_TIMELINE = """
SELECT author_id, moment FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
JOIN posts_post USING (author_id, moment)
WHERE deleted_at IS NULL AND (kind = 0 OR kind = 1 AND target_author = author_id)
"""
KEYS = """
SELECT count(*) FROM posts_publishedkey
WHERE author_id = ANY(%s::bigint[]) AND key = ANY(%s::text[])
"""
ALL_KINDS = (Kind.POST, Kind.REPLY, Kind.REPOST)
PAST_ALL = (MAX_SECOND + 1) * SEQUENCES


class PostText(NamedTuple):
    """The text of a post for moderators, who read hidden posts too."""

    text: str
    spoiler_text: str
    is_deleted: bool
    is_hidden: bool


class ListedPost(NamedTuple):
    """A post in the list of its author. The target is that of a reply or repost."""

    moment: int
    kind: int
    target_author: int | None
    target_moment: int | None


def read_posts(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """The live posts among `ids`, all of one shard, without hidden posts. One query by key."""
    return _read(alias, SHOWN_BY_ID, ids)


def find_post_row(post_id: PostId) -> PostRow | None:
    """The post, even if it is deleted or hidden: then its texts are empty. One query by key."""
    rows = _read(shard_of(post_id.author_id), ANY_BY_ID, [post_id])
    return rows[0] if rows else None


def find_post_text(post_id: PostId) -> PostText | None:
    """The post's text, even if it is hidden. None: there is no such row. One query by key."""
    row = fetch_one(shard_of(post_id.author_id), WITH_TEXT, (post_id.author_id, post_id.moment))
    return PostText(*row) if row else None


def read_ranges(alias: str, spans: Iterable[tuple[int, int, int]], limit: int) -> list[PostRow]:
    """The newest `limit` live posts of each span (author, lower moment, upper moment).

    The upper moment is outside the span. Hidden posts are left out. One query.
    """
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
    """An author's live posts from moment `lower` to below `upper`, each with the post it shows.

    Hidden posts are included: hiding a post does not change a timeline. `may_trail`: a replica may
    answer, so posts that were deleted a moment ago may be included. One index-only scan.
    """
    sql = TIMELINE.format(order="DESC" if newest_first else "ASC")
    params = (author_id, lower, upper, [int(kind) for kind in kinds], limit)
    alias, read = shard_of(author_id), partial(fetch_all, sql=sql, params=params)
    rows = read_replica_or_shard(alias, read) if may_trail else read(alias)
    return [(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]


def list_newest(author_id: int, limit: int) -> list[ListedPost]:
    """An author's newest live posts, newest first, hidden ones too. One index-only scan."""
    rows = fetch_all(shard_of(author_id), NEWEST, (author_id, limit))
    return [ListedPost(*row) for row in rows]


def filter_public_timeline(alias: str, ids: Sequence[PostId]) -> list[PostId]:
    """The posts among `ids`, all of one shard, that the public timeline lists. One query by key.

    Those are live posts, no reposts, and no replies to another account.
    """
    return [PostId.at(*row) for row in fetch_all(alias, ON_PUBLIC_TIMELINE, _columns(ids))]


def count_published_keys(alias: str, author_ids: Sequence[int], keys: Sequence[str]) -> int:
    """The number of these Idempotency-Keys that one shard still has. One query."""
    row = fetch_one(alias, KEYS, (list(author_ids), list(keys)))
    return int(row[0]) if row else 0


def _read(alias: str, sql: str, ids: Sequence[PostId]) -> list[PostRow]:
    return [PostRow(*row) for row in fetch_all(alias, sql, _columns(ids))]


def _columns(ids: Sequence[PostId]) -> list[list[int]]:
    return [[post_id.author_id for post_id in ids], [post_id.moment for post_id in ids]]
