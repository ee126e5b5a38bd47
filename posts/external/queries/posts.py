"""Finds imported posts by the ids of the other system, and reads those of an import."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import is_owned
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.changes import PostsImported
from posts.ids import PostId
from posts.queries.responses import group_ids_by_shard
from posts.queries.rows import read_own_posts
from posts.types import Kind, PostRow, Target

LOAD = """
SELECT external_id, author_id, moment, kind, visibility, thread_author, thread_moment, deleted_at,
    target_author, target_moment
FROM posts_externalpost LEFT JOIN posts_post USING (author_id, moment)
WHERE external_id = ANY(%s::text[])
"""
LOAD_ORIGINALS = """
SELECT author_id, moment, kind, visibility, thread_author, thread_moment, deleted_at
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
"""


class KnownPost(NamedTuple):
    """An imported post. `thread`: its first post. `is_live`: it is not deleted. `original`: what a
    repost shows; None for other posts."""

    post_id: PostId
    kind: int
    visibility: int
    thread: PostId
    is_live: bool
    original: PostId | None = None


def load_known_posts(external_ids: Iterable[str]) -> dict[str, KnownPost]:
    """Those of the posts that were imported, also deleted ones. One query by index on each shard,
    at once: the ids do not name the shard."""
    wanted = list(dict.fromkeys(external_ids))
    if not wanted:
        return {}
    calls = {alias: partial(fetch_all, alias, LOAD, (wanted,)) for alias in shard_aliases()}
    return {
        row[0]: _known(*row[1:])
        for alias, rows in scatter(calls).items()
        for row in rows
        if is_owned(alias, row[1])
    }


def load_originals(known: Iterable[KnownPost]) -> dict[PostId, KnownPost]:
    """The posts that these reposts show, also deleted ones. One query by key a shard, if there are
    reposts."""
    wanted = group_ids_by_shard({post.original for post in known if post.original})
    calls = {
        alias: partial(
            fetch_all, alias, LOAD_ORIGINALS, ([i.author_id for i in ids], [i.moment for i in ids])
        )
        for alias, ids in wanted.items()
    }
    originals = [_known(*row) for rows in scatter(calls).values() for row in rows]
    return {original.post_id: original for original in originals}


def _known(
    author_id: int,
    moment: int,
    kind: int | None,
    visibility: int | None,
    thread_author: int | None,
    thread_moment: int | None,
    deleted_at: object,
    target_author: int | None = None,
    target_moment: int | None = None,
) -> KnownPost:
    """A post without a row was deleted long ago."""
    post_id = PostId.at(author_id, moment)
    is_reply = thread_author is not None and thread_moment is not None
    thread = PostId.at(thread_author, thread_moment) if is_reply else post_id  # type: ignore[arg-type]
    is_live = kind is not None and deleted_at is None
    target = Target.of(kind or Kind.POST, target_author, target_moment)
    original = target.post_id if target and kind == Kind.REPOST else None
    return KnownPost(post_id, kind or Kind.POST, visibility or 0, thread, is_live, original)


def load_imported(payload: PostsImported) -> list[PostRow]:
    """The posts that are not deleted, as they are now. One query a shard."""
    groups = group_ids_by_shard(payload.ids)
    calls = {alias: partial(read_own_posts, alias, ids) for alias, ids in groups.items()}
    return [row for rows in scatter(calls).values() for row in rows]
