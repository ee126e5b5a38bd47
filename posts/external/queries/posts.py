"""Finds imported posts by the ids of the other system."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import is_owned
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.types import Kind

LOAD = """
SELECT external_id, author_id, moment, kind, visibility, thread_author, thread_moment, deleted_at
FROM posts_externalpost LEFT JOIN posts_post USING (author_id, moment)
WHERE tenant = %s AND external_id = ANY(%s::text[])
"""


class KnownPost(NamedTuple):
    """An imported post. `thread`: its first post. `is_live`: it is not deleted."""

    post_id: PostId
    kind: int
    visibility: int
    thread: PostId
    is_live: bool


def load_known_posts(tenant: int, external_ids: Iterable[str]) -> dict[str, KnownPost]:
    """Those of the posts that were imported, also deleted ones. One query by index on each shard,
    at once: the ids do not name the shard."""
    wanted = list(dict.fromkeys(external_ids))
    if not wanted:
        return {}
    calls = {alias: partial(fetch_all, alias, LOAD, (tenant, wanted)) for alias in shard_aliases()}
    return {
        row[0]: _known(*row[1:])
        for alias, rows in scatter(calls).items()
        for row in rows
        if is_owned(alias, row[1])
    }


def _known(
    author_id: int,
    moment: int,
    kind: int | None,
    visibility: int | None,
    thread_author: int | None,
    thread_moment: int | None,
    deleted_at: object,
) -> KnownPost:
    """A post without a row was deleted long ago."""
    post_id = PostId.at(author_id, moment)
    is_reply = thread_author is not None and thread_moment is not None
    thread = PostId.at(thread_author, thread_moment) if is_reply else post_id  # type: ignore[arg-type]
    is_live = kind is not None and deleted_at is None
    return KnownPost(post_id, kind or Kind.POST, visibility or 0, thread, is_live)
