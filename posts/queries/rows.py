"""Posts as their shards store them."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from infra.sharding.buckets import shard_of
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import Statement, fetch_all
from posts.ids import MAX_SECOND, SEQUENCES, PostId
from posts.sql import LIVE_POSTS_AND_REPOSTS
from posts.types import Kind, PostRange, PostRow, Visibility

_ABOUT = "kind, target_author, target_moment, visibility"
_DETAILS = ("mentions", "tags", "media", "poll", "application", "edited_at")
_THREAD = ("thread_author", "thread_moment", "is_orphan")
_QUOTES_AND_POLICIES = (
    "quoted_author",
    "quoted_moment",
    "is_quote_revoked",
    "quote_policy",
    "reply_policy",
)
_OWN_DATA = ("post_type", "custom")
_COLUMNS = ", ".join([_ABOUT, *_DETAILS, *_THREAD, *_QUOTES_AND_POLICIES, *_OWN_DATA])
BY_ID = """
SELECT author_id, moment, {text}, sensitive, {spoiler_text}, language,
    {columns}
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
"""
LIVE_BY_ID = f"""{BY_ID.format(text="text", spoiler_text="spoiler_text", columns=_COLUMNS)}
WHERE deleted_at IS NULL"""
SHOWN_BY_ID = f"""{BY_ID.format(text="text", spoiler_text="spoiler_text", columns=_COLUMNS)}
WHERE deleted_at IS NULL AND hidden_at IS NULL"""
_UNLESS_HIDDEN = "CASE WHEN hidden_at IS NULL THEN {0} ELSE '' END AS {0}"
ANY_BY_ID = BY_ID.format(
    text=_UNLESS_HIDDEN.format("text"),
    spoiler_text=_UNLESS_HIDDEN.format("spoiler_text"),
    columns=", ".join(
        [
            _ABOUT,
            *(f"CASE WHEN hidden_at IS NULL THEN {name} END" for name in _DETAILS),
            *_THREAD,
            *_QUOTES_AND_POLICIES,
            *(f"CASE WHEN hidden_at IS NULL THEN {name} END" for name in _OWN_DATA),
        ]
    ),
)
RANGES = f"""
SELECT p.author_id, p.moment, text, sensitive, spoiler_text, language, {_COLUMNS}
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS span (author_id, lower, upper)
CROSS JOIN LATERAL (
    SELECT * FROM posts_post
    WHERE author_id = span.author_id AND moment >= lower AND moment < upper
        AND deleted_at IS NULL AND hidden_at IS NULL
    ORDER BY moment DESC LIMIT %s
) p
"""  # noqa: S608
_LISTED_KIND = f"""
    CASE WHEN kind = {int(Kind.REPLY)} AND target_author = author_id THEN {int(Kind.SELF_REPLY)}
    ELSE kind END"""
TIMELINE = f"""
{LIVE_POSTS_AND_REPOSTS} AND author_id = %s AND moment >= %s AND moment < %s
    AND {_LISTED_KIND} = ANY(%s::smallint[]) AND visibility <= %s
ORDER BY moment {{order}} LIMIT %s
"""
# Reposts have no images, and replies with images count.
WITH_IMAGES = f"""
{LIVE_POSTS_AND_REPOSTS} AND author_id = %s AND moment >= %s AND moment < %s
    AND media IS NOT NULL AND {_LISTED_KIND} = ANY(%s::smallint[]) AND visibility <= %s
ORDER BY moment {{order}} LIMIT %s
"""
WITH_TAG = f"""
{LIVE_POSTS_AND_REPOSTS} AND author_id = %s AND moment >= %s AND moment < %s
    AND tags IS NOT NULL AND visibility = 0 AND {_LISTED_KIND} = ANY(%s::smallint[])
    AND tags @> ARRAY[%s]
ORDER BY moment {{order}} LIMIT %s
"""
NEWEST = f"""
SELECT moment, {_LISTED_KIND}, target_author, target_moment, visibility FROM posts_post
WHERE deleted_at IS NULL AND author_id = %s ORDER BY moment DESC LIMIT %s
"""  # noqa: S608
ALL_KINDS = (Kind.POST, Kind.REPLY, Kind.SELF_REPLY, Kind.REPOST)
_JSON = [
    (name, PostRow._fields.index(name)) for name in ("mentions", "media", "poll", "application")
]
PAST_ALL = (MAX_SECOND + 1) * SEQUENCES

ListedPair = tuple[PostId, PostId]  # a post or repost, and the post that it shows


class ListedPost(NamedTuple):
    """A post in the list of its author. The target is that of a reply or repost."""

    moment: int
    kind: int
    target_author: int | None
    target_moment: int | None
    visibility: int = Visibility.PUBLIC


def read_posts(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """The live posts among `ids`, all of one shard, without hidden posts. One query by key."""
    return _read(alias, SHOWN_BY_ID, ids)


def read_own_posts(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """As `read_posts`, with hidden posts: hiding one ends no row that was derived from it."""
    return _read(alias, LIVE_BY_ID, ids)


def find_post_row(post_id: PostId) -> PostRow | None:
    """The post, even if it is deleted or hidden: then its texts are empty. One query by key."""
    rows = _read(shard_of(post_id.author_id), ANY_BY_ID, [post_id])
    return rows[0] if rows else None


def read_ranges(alias: str, spans: Iterable[tuple[int, int, int]], limit: int) -> list[PostRow]:
    """The newest `limit` live posts of each span (author, lower moment, upper moment).

    The upper moment is outside the span. Hidden posts are left out. One query.
    """
    columns = [list(column) for column in zip(*spans, strict=True)]
    return [_post_of(row) for row in fetch_all(alias, RANGES, [*columns, limit])]


def list_timeline(
    author_id: int,
    post_range: PostRange,
    kinds: Collection[int] = ALL_KINDS,
    may_trail: bool = False,
    most_closed: Visibility = Visibility.PRIVATE,
) -> list[ListedPair]:
    """An author's live posts in the range, each with the post that it shows.

    Hidden posts are included: hiding a post does not change a timeline. `may_trail`: a replica may
    answer, so posts that were deleted a moment ago may be included. `most_closed`: posts that fewer
    accounts may see are left out. One index-only scan.
    """
    alias = shard_of(author_id)
    read = partial(_read_pairs, _select(TIMELINE, author_id, post_range, kinds, int(most_closed)))
    return read_replica_or_shard(alias, read) if may_trail else read(alias)


def list_with_images(
    author_id: int, post_range: PostRange, kinds: Collection[int], most_closed: Visibility
) -> list[ListedPair]:
    """As list_timeline: an author's posts with images, also hidden ones. One query by index."""
    statement = _select(WITH_IMAGES, author_id, post_range, kinds, int(most_closed))
    return _read_pairs(statement, shard_of(author_id))


def list_with_tag(
    author_id: int, post_range: PostRange, kinds: Collection[int], tag: str
) -> list[ListedPair]:
    """As list_timeline: an author's public posts with a tag, also hidden ones. One query by index.

    It looks at all posts of the author that have tags.
    """
    statement = _select(WITH_TAG, author_id, post_range, kinds, tag)
    return _read_pairs(statement, shard_of(author_id))


def list_newest(author_id: int, limit: int) -> list[ListedPost]:
    """An author's newest live posts, newest first, hidden ones too. One index-only scan."""
    rows = fetch_all(shard_of(author_id), NEWEST, (author_id, limit))
    return [ListedPost(*row) for row in rows]


def _select(
    sql: str, author_id: int, post_range: PostRange, kinds: Collection[int], last: int | str
) -> Statement:
    """`last`: the value of the last condition of `sql`."""
    lower, upper, most, newest_first = post_range
    params = (author_id, lower, upper, [int(kind) for kind in kinds], last, most)
    return Statement(sql.format(order="DESC" if newest_first else "ASC"), params)


def _read_pairs(statement: Statement, alias: str) -> list[ListedPair]:
    rows = fetch_all(alias, statement.sql, statement.params)
    return [(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]


def _read(alias: str, sql: str, ids: Sequence[PostId]) -> list[PostRow]:
    return [_post_of(row) for row in fetch_all(alias, sql, _columns(ids))]


def _post_of(columns: tuple[Any, ...]) -> PostRow:
    """Raw statements return JSON columns as text."""
    texts = {name: columns[place] for name, place in _JSON if columns[place] is not None}
    row = PostRow(*columns)
    if not texts:
        return row
    return row._replace(**{name: orjson.loads(text) for name, text in texts.items()})


def _columns(ids: Sequence[PostId]) -> list[list[int]]:
    return [[post_id.author_id for post_id in ids], [post_id.moment for post_id in ids]]
