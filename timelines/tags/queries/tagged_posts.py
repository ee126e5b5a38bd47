"""Reads the tag index: the posts that have any of some tags, in page order."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from timelines.types import TimeRange

# The first rows of each tag by an index-only scan, then the first of them all.
RANGE = """
SELECT DISTINCT post.second, post.author_id, post.sequence
FROM unnest(%s::bigint[]) AS wanted (tag_id) CROSS JOIN LATERAL (
    SELECT second, author_id, sequence FROM tags_taggedpost
    WHERE tag_id = wanted.tag_id AND (second, author_id, sequence) > (%s, %s, %s)
        AND (second, author_id, sequence) < (%s, %s, %s)
    ORDER BY second {order}, author_id {order}, sequence {order} LIMIT %s
) AS post ORDER BY 1 {order}, 2 {order}, 3 {order} LIMIT %s
"""
NEWER, OLDER = RANGE.format(order="ASC"), RANGE.format(order="DESC")
NEWEST = """
SELECT wanted.tag_id, post.second, post.author_id, post.sequence
FROM unnest(%s::bigint[]) AS wanted (tag_id) CROSS JOIN LATERAL (
    SELECT second, author_id, sequence FROM tags_taggedpost WHERE tag_id = wanted.tag_id
    ORDER BY second DESC, author_id DESC, sequence DESC LIMIT %s
) AS post
"""
AMONG = """
SELECT post.second, post.author_id, post.sequence
FROM unnest(%s::bigint[]) AS wanted (tag_id)
CROSS JOIN unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS given (second, author_id, sequence)
JOIN tags_taggedpost AS post USING (tag_id, second, author_id, sequence)
"""


def list_tagged(
    tag_ids: Collection[int], time_range: TimeRange, count: int, newest_first: bool
) -> list[PostId]:
    """The first `count` posts of the range that have any of the tags, without repeats.

    Deleted posts may be among them for a moment. Raises: OperationalError, InterfaceError. Cost:
    one query on each shard that has one of the tags. Worst case: `count` index rows a tag.
    """
    sql = OLDER if newest_first else NEWER
    limits = (*time_range.above, *time_range.below, count, count)
    calls = {
        alias: partial(fetch_all, alias, sql, (ids, *limits))
        for alias, ids in group_by_shard(tag_ids).items()
    }
    posts = {PostId(*row) for rows in scatter(calls).values() for row in rows}
    return sorted(posts, reverse=newest_first)[:count]


def read_newest_tagged(tag_ids: Collection[int], most: int) -> Mapping[int, Sequence[PostId]]:
    """The newest posts of each of the tags, at most `most` each, newest first.

    Cost: one query on each shard that has one of the tags.
    """
    posts: dict[int, list[PostId]] = {tag_id: [] for tag_id in tag_ids}
    calls = {
        alias: partial(fetch_all, alias, NEWEST, (ids, most))
        for alias, ids in group_by_shard(tag_ids).items()
    }
    for rows in scatter(calls).values():
        for tag_id, *post in rows:
            posts[tag_id].append(PostId(*post))
    return {tag_id: sorted(ids, reverse=True) for tag_id, ids in posts.items()}


def find_tagged(tag_ids: Collection[int], posts: Collection[PostId]) -> set[PostId]:
    """Those of the posts that have any of the tags.

    Cost: one query by key on each shard that has one of the tags.
    """
    columns = [list(column) for column in zip(*posts, strict=True)]
    calls = {
        alias: partial(fetch_all, alias, AMONG, (ids, *columns))
        for alias, ids in group_by_shard(tag_ids).items()
    }
    return {PostId(*row) for rows in scatter(calls).values() for row in rows}
