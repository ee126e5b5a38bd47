"""A timeline computed from what authors posted, merged (fan-out on read).

Down to the mark of the recent-posts index from there, one query on the reader's own shard; below it
from the posts tables of all shards.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, moment_after, moment_below
from posts.sql import SHOWN
from timelines.queries.span import TimelineAuthors, TimeRange
from timelines.recent.queries.recent_posts import RecentEntries, load_recent
from timelines.types import Entry

PULL_BATCH = 60
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


def pull(
    circle: TimelineAuthors, span: TimeRange, limit: int, newest_first: bool = True
) -> list[Entry]:
    """The `limit` newest (or oldest) entries of the circle inside the span, in that order.

    Fewer than `limit` means there are no more. Source: above the mark of the index on the reader's
    shard that index, below it the posts tables. Cost: one query; for what lies below the mark one
    more per shard, at once.
    """
    return complete(
        load_recent(circle, span, limit, newest_first), circle, span, limit, newest_first
    )


def iter_pulled(circle: TimelineAuthors, span: TimeRange, newest_first: bool) -> Iterator[Entry]:
    """All entries of the circle inside the span, pulled as they are asked for.

    Cost: as `pull`, for every PULL_BATCH of them.
    """
    while True:
        entries = pull(circle, span, PULL_BATCH, newest_first)
        yield from entries
        if len(entries) < PULL_BATCH:
            return
        edge = entries[-1].event
        span = TimeRange(span.above, edge) if newest_first else TimeRange(edge, span.below)


def complete(
    recent: RecentEntries,
    circle: TimelineAuthors,
    span: TimeRange,
    limit: int,
    newest_first: bool = True,
) -> list[Entry]:
    """What the index has of the span with what only the posts tables have."""
    if recent.complete_from is None:
        return pull_from_tables(circle.author_ids, span, limit, newest_first)
    older = TimeRange(span.above, min(span.below, PostId(recent.complete_from, 0, 0)))
    if newest_first:
        lacking = limit - len(recent.entries)
        return recent.entries + pull_from_tables(circle.author_ids, older, lacking)
    first = pull_from_tables(circle.author_ids, older, limit, newest_first=False)
    return (first + recent.entries)[:limit]


def pull_from_tables(
    author_ids: Sequence[int], span: TimeRange, limit: int, newest_first: bool = True
) -> list[Entry]:
    """The same of these authors from the posts tables, never stale.

    Cost: none for nothing; one query per shard, at once; worst case `limit` index rows per author.
    """
    if limit <= 0 or span.above >= span.below:
        return []
    calls = {
        alias: partial(_pull_shard, alias, authors, span, limit, newest_first)
        for alias, authors in group_by_shard(author_ids).items()
    }
    entries = [entry for answer in scatter(calls).values() for entry in answer]
    return sorted(entries, reverse=newest_first)[:limit]


def _pull_shard(
    alias: str, authors: Sequence[int], span: TimeRange, limit: int, newest_first: bool
) -> list[Entry]:
    above = [moment_after(span.above, author) for author in authors]
    below = [moment_below(span.below, author) for author in authors]
    sql = PULL.format(order="DESC" if newest_first else "ASC")
    rows = fetch_all(alias, sql, (list(authors), above, below, limit, limit))
    return [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]
