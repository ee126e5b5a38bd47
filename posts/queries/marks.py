"""Viewer marks by key."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.types import Kind

LOAD = """
SELECT owner_id, target_author, target_moment, kind
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS mark (owner_id, target_author, target_moment, kind)
JOIN posts_viewermark USING (owner_id, target_moment, target_author, kind) WHERE is_on
"""


class ViewerMarkKey(NamedTuple):
    """A mark of an account on a post."""

    owner_id: int
    post_id: PostId
    kind: Kind


def load_marks(marks: Iterable[ViewerMarkKey]) -> frozenset[ViewerMarkKey]:
    """Those that are set now. A query by key for each shard of the owners, at once."""
    by_shard: dict[str, set[ViewerMarkKey]] = {}
    for mark in marks:
        by_shard.setdefault(shard_of(mark.owner_id), set()).add(mark)
    loaded = scatter({alias: partial(_load, alias, wanted) for alias, wanted in by_shard.items()})
    return frozenset().union(*loaded.values())


def _load(alias: str, marks: Iterable[ViewerMarkKey]) -> set[ViewerMarkKey]:
    keys = [(m.owner_id, m.post_id.author_id, m.post_id.moment, m.kind) for m in marks]
    rows = fetch_all(alias, LOAD, [list(column) for column in zip(*keys, strict=True)])
    return {
        ViewerMarkKey(owner, PostId.at(author, moment), Kind(kind))
        for owner, author, moment, kind in rows
    }
