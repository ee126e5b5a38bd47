"""Reads the posts of an import, for its consumers."""

from functools import partial

from infra.sharding.scatter import scatter
from posts.changes import PostsImported
from posts.queries.responses import group_ids_by_shard
from posts.queries.rows import read_own_posts
from posts.types import PostRow


def load_imported(payload: PostsImported) -> list[PostRow]:
    """The posts that are not deleted, as they are now. One query a shard."""
    groups = group_ids_by_shard(payload.ids)
    calls = {alias: partial(read_own_posts, alias, ids) for alias, ids in groups.items()}
    return [row for rows in scatter(calls).values() for row in rows]
