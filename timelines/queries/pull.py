"""A home timeline computed from the truth: the posts of all followees, merged (fan-out on read)."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import FIRST, LAST, SEQUENCES, PostId, moment_after, moment_below
from posts.queries.rows import SHOWN
from timelines.types import Entry

# Newest (or oldest) posts of each author by an index-only scan, then the best of them all.
PULL = f"""
SELECT wanted.author_id, p.moment, p.shown_author, p.shown_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS wanted (author_id, from_moment, to_moment)
CROSS JOIN LATERAL (
    SELECT moment, {SHOWN} FROM posts_post
    WHERE author_id = wanted.author_id AND moment >= from_moment AND moment < to_moment
        AND deleted_at IS NULL
    ORDER BY moment {{order}} LIMIT %s
) p
ORDER BY p.moment / {SEQUENCES} {{order}}, wanted.author_id {{order}}, p.moment {{order}} LIMIT %s
"""  # noqa: S608


class Span(NamedTuple):
    """Part of a timeline: entries strictly between `above` and `below`."""

    above: PostId = FIRST
    below: PostId = LAST


def pull(
    author_ids: Sequence[int], span: Span, limit: int, newest_first: bool = True
) -> list[Entry]:
    """The `limit` newest (or oldest) entries of these authors inside the span, in that order.

    Fewer than `limit` means there are no more. Source: the posts tables, never stale.
    Cost: one query per shard, at once; worst case `limit` index rows per author.
    """
    calls = {
        alias: partial(_pull_shard, alias, authors, span, limit, newest_first)
        for alias, authors in group_by_shard(author_ids).items()
    }
    entries = [entry for answer in scatter(calls).values() for entry in answer]
    return sorted(entries, reverse=newest_first)[:limit]


def _pull_shard(
    alias: str, authors: Sequence[int], span: Span, limit: int, newest_first: bool
) -> list[Entry]:
    above = [moment_after(span.above, author) for author in authors]
    below = [moment_below(span.below, author) for author in authors]
    sql = PULL.format(order="DESC" if newest_first else "ASC")
    rows = fetch_all(alias, sql, (list(authors), above, below, limit, limit))
    return [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]
