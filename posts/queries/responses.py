"""Responses: their current state on the responder's shard, and the rows on the author's shard."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from counters.kinds import CounterKind
from counters.sql import join_positive_count
from infra.changes.batch_rows import read_once
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.types import Kind, ResponseRow, Target, Visibility

MOST_REPOSTS = 1_000
# Kinds of responses that not all may see.
CLOSED_KINDS = {Kind.REPLY: Kind.CLOSED_REPLY, Kind.QUOTE: Kind.CLOSED_QUOTE}
OPEN_KINDS = {closed: kind for kind, closed in CLOSED_KINDS.items()}
# Which of some reposts and favourites of an author's posts still are.
STILL_ON = """
SELECT moment, kind, responder_id
FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[]) AS wanted (moment, kind, responder_id)
JOIN posts_response USING (moment, kind, responder_id)
WHERE author_id = %s AND reply_moment = 0 AND is_on
"""
STATES = """
SELECT author_id, moment, deleted_at IS NULL, visibility
FROM posts_post JOIN unnest(%s::bigint[], %s::bigint[])
    AS wanted (author_id, moment) USING (author_id, moment)
"""
ANSWERED = """
SELECT author_id, moment FROM unnest(%s::bigint[], %s::bigint[]) AS post (author_id, moment)
WHERE EXISTS (
    SELECT 1 FROM posts_response AS r
    WHERE r.author_id = post.author_id AND r.moment = post.moment
        AND r.kind = ANY(%s::smallint[]) AND is_on
)
"""
NO_ROW = (False, Visibility.PUBLIC)
# Of posts that quote: whether the quote is still there.
QUOTES = """
SELECT author_id, moment, deleted_at IS NULL AND NOT is_quote_revoked, visibility
FROM posts_post JOIN unnest(%s::bigint[], %s::bigint[])
    AS wanted (author_id, moment) USING (author_id, moment)
"""
VIEWER_MARKS = """
SELECT target_author, target_moment, kind, owner_id, 0, since_ms, revision, is_on
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS wanted (owner_id, target_moment, target_author, kind)
JOIN posts_viewermark USING (owner_id, target_moment, target_author, kind)
"""
IDENTITY = "author_id, moment, kind, responder_id, reply_moment"
BY_IDENTITY = f"""
SELECT {IDENTITY}, at, revision, is_on
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS wanted ({IDENTITY})
JOIN posts_response USING ({IDENTITY})
"""  # noqa: S608
# Deleted replies too: there may be live ones below them. Each half is a scan of an index.
REPLIES = """
SELECT parent.author_id, parent.moment, r.responder_id, r.at
FROM unnest(%(authors)s::bigint[], %(moments)s::bigint[]) AS parent (author_id, moment)
CROSS JOIN LATERAL (
    (SELECT responder_id, at FROM posts_response
        WHERE author_id = parent.author_id AND moment = parent.moment AND kind IN (1, 7) AND is_on
        ORDER BY at, responder_id LIMIT %(most)s)
    UNION ALL
    (SELECT responder_id, at FROM posts_response
        WHERE author_id = parent.author_id AND moment = parent.moment AND kind IN (1, 7)
            AND NOT is_on
        ORDER BY at, responder_id LIMIT %(most)s)
) AS r
ORDER BY r.at, r.responder_id LIMIT %(most)s
"""
# The count of a post changes with its responses: posts without reposts are skipped.
REPOSTS = f"""
SELECT r.responder_id, r.at, post.author_id, post.moment
FROM unnest(%s::bigint[], %s::bigint[]) AS post (author_id, moment)
{join_positive_count("post.author_id", "post.moment", CounterKind.REPOSTS)}
CROSS JOIN LATERAL (
    SELECT responder_id, at FROM posts_response
    WHERE author_id = post.author_id AND moment = post.moment AND kind = {Kind.REPOST} AND is_on
        AND responder_id = ANY(%s::bigint[])
    ORDER BY at DESC LIMIT {MOST_REPOSTS}
) AS r
"""  # noqa: S608


def read_post_responses(alias: str, targets: Sequence[tuple[PostId, Target]]) -> list[ResponseRow]:
    """The responses that these replies and reposts are now, deleted or not. One query.

    If an account reposted a post several times, its latest repost has the highest revision.
    """
    states = read_states(alias, [i for i, _ in targets])
    return [record_of(i, target, *states.get(i, NO_ROW)) for i, target in targets]


def read_quote_responses(alias: str, quotes: Sequence[tuple[PostId, PostId]]) -> list[ResponseRow]:
    """The responses that these posts are to the posts that they quote. One query.

    Each of `quotes`: a post, and what it quotes.
    """
    states = read_quote_states(alias, [i for i, _ in quotes])
    return [record_of(i, quote_of(quoted), *states.get(i, NO_ROW)) for i, quoted in quotes]


def quote_of(quoted: PostId) -> Target:
    return Target(Kind.QUOTE, quoted.author_id, quoted.moment)


def record_of(post_id: PostId, target: Target, is_live: bool, visibility: int) -> ResponseRow:
    """A reply or a quote that not all may see has a kind of its own, which no count includes.

    `is_live`: of a quote, whether it is also not revoked. It ends once, so its revision is right.
    """
    response = response_of(post_id, target, is_live)
    if visibility > Visibility.UNLISTED:
        return response._replace(kind=CLOSED_KINDS.get(Kind(target.kind), target.kind))
    return response


def find_live_among(ids: Iterable[PostId]) -> set[PostId]:
    """Those of the posts that are not deleted. One query by key for each shard."""
    groups = group_ids_by_shard(dict.fromkeys(ids))
    return {i for alias, group in groups.items() for i in find_live_posts(alias, group)}


def find_answered(alias: str, ids: Sequence[PostId], kinds: Collection[Kind]) -> list[PostId]:
    """Those of the posts, all of one shard, with responses of these kinds. One query by index."""
    if not ids:
        return []
    columns = [[i.author_id for i in ids], [i.moment for i in ids], [int(kind) for kind in kinds]]
    return [PostId.at(*row) for row in fetch_all(alias, ANSWERED, columns)]


def find_live_posts(alias: str, ids: Sequence[PostId]) -> set[PostId]:
    """Those of the posts, all of one shard, that are not deleted. One query by key."""
    return {i for i, (is_live, _) in read_states(alias, ids).items() if is_live}


@read_once
def read_states(alias: str, ids: Iterable[PostId]) -> dict[PostId, tuple[bool, int]]:
    """Of those of the posts, all of one shard, that have a row: is it live, and its visibility.

    Deleted posts keep their rows for a month. One query by key; consumers of one batch share it.
    """
    ids = list(ids)
    columns = [[i.author_id for i in ids], [i.moment for i in ids]]
    return {PostId.at(*row[:2]): (row[2], row[3]) for row in fetch_all(alias, STATES, columns)}


@read_once
def read_quote_states(alias: str, ids: Iterable[PostId]) -> dict[PostId, tuple[bool, int]]:
    """As `read_states`, but a revoked quote is not live. One query by key."""
    ids = list(ids)
    columns = [[i.author_id for i in ids], [i.moment for i in ids]]
    return {PostId.at(*row[:2]): (row[2], row[3]) for row in fetch_all(alias, QUOTES, columns)}


def revision_of(post_id: PostId, is_live: bool) -> int:
    """A post is created once and deleted once, so its moment gives the revision."""
    return 2 * post_id.moment + (not is_live)


def response_of(post_id: PostId, target: Target, is_live: bool) -> ResponseRow:
    """The response that a reply or repost is."""
    moment = post_id.moment
    return ResponseRow(
        target.author_id,
        target.moment,
        target.kind,
        responder_id=post_id.author_id,
        reply_moment=0 if target.kind == Kind.REPOST else moment,
        at=moment,
        revision=revision_of(post_id, is_live),
        is_on=is_live,
    )


def read_responses(
    alias: str, identities: Iterable[tuple[int, int, int, int, int]]
) -> dict[tuple[int, int, int, int, int], ResponseRow]:
    """The rows of these responses on the shard of the posts' authors, by identity. One query."""
    columns = [list(column) for column in zip(*identities, strict=True)]
    rows = [ResponseRow(*row) for row in fetch_all(alias, BY_IDENTITY, columns)]
    return {row.identity: row for row in rows}


def read_mark_responses(
    alias: str, marks: Iterable[tuple[int, int, int, int]]
) -> list[ResponseRow]:
    """The responses that these viewer marks are now. One query; consumers of one batch share it.

    `marks`: (owner, target's moment, target's author, kind), all of one shard.
    """
    return list(_load_marks(alias, marks).values())


@read_once
def _load_marks(
    alias: str, marks: Iterable[tuple[int, int, int, int]]
) -> dict[tuple[int, int, int, int], ResponseRow]:
    columns = [list(column) for column in zip(*marks, strict=True)]
    rows = [ResponseRow(*row) for row in fetch_all(alias, VIEWER_MARKS, columns)]
    return {(row.responder_id, row.moment, row.author_id, row.kind): row for row in rows}


def find_live_responses(
    author_id: int, wanted: Collection[tuple[int, int, int]]
) -> set[tuple[int, int, int]]:
    """Those of the reposts and favourites of the author's posts that were not undone.

    `wanted`: (moment of the post, kind, responder). Cost: one query by key.
    """
    if not wanted:
        return set()
    columns = [list(column) for column in zip(*wanted, strict=True)]
    return {
        (row[0], row[1], row[2])
        for row in fetch_all(shard_of(author_id), STILL_ON, [*columns, author_id])
    }


def read_replies(parents: Iterable[PostId], limit: int) -> dict[PostId, list[PostId]]:
    """At most `limit` replies to these posts, by parent, oldest first, deleted ones too.

    One query per shard.
    """
    calls = {
        alias: partial(_replies_on, alias, posts, limit)
        for alias, posts in group_ids_by_shard(parents).items()
    }
    pairs = sorted(pair for part in scatter(calls).values() for pair in part)
    replies: dict[PostId, list[PostId]] = {}
    for reply, parent in pairs[:limit]:
        replies.setdefault(parent, []).append(reply)
    return replies


def _replies_on(alias: str, parents: Sequence[PostId], limit: int) -> list[tuple[PostId, PostId]]:
    authors, moments = [i.author_id for i in parents], [i.moment for i in parents]
    rows = fetch_all(alias, REPLIES, {"authors": authors, "moments": moments, "most": limit})
    return [(PostId.at(*row[2:]), PostId.at(*row[:2])) for row in rows]


def read_reposts(
    posts: Iterable[PostId], responder_ids: Sequence[int]
) -> list[tuple[PostId, PostId]]:
    """(repost, post) for every repost of these posts by these accounts, MOST_REPOSTS a post.

    Stale by the delay of the drain: some reposts may be undone. Cost: one query per shard of the
    posts' authors; in it one index probe per account for each post with reposts.
    """
    calls = {
        alias: partial(_reposts_on, alias, group, list(responder_ids))
        for alias, group in group_ids_by_shard(posts).items()
    }
    return [pair for part in scatter(calls).values() for pair in part]


def _reposts_on(
    alias: str, posts: Sequence[PostId], responder_ids: list[int]
) -> list[tuple[PostId, PostId]]:
    columns = [[i.author_id for i in posts], [i.moment for i in posts], responder_ids]
    return [(PostId.at(*r[:2]), PostId.at(*r[2:])) for r in fetch_all(alias, REPOSTS, columns)]


def group_ids_by_shard(posts: Iterable[PostId]) -> dict[str, list[PostId]]:
    """The posts by the shard of their authors, in their order."""
    groups: dict[str, list[PostId]] = {}
    for post in posts:
        groups.setdefault(shard_of(post.author_id), []).append(post)
    return groups
