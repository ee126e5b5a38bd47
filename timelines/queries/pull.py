"""Computes timelines from the authors' posts (fan-out on read).

Above its low-water mark the recent-posts index answers. Below the mark the posts tables of all
shards answer.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from django.conf import settings

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, moment_after, moment_below
from posts.queries.rows import PAST_ALL, list_timeline
from posts.sql import LIVE_EVENTS
from posts.types import PostRange
from relations.queries.following import Following
from timelines.recent.factory import recent_index
from timelines.recent.interface import RecentEntries
from timelines.types import Entry, LiveTimeline, TimelineAuthors, TimeRange

PULL_BATCH = 60
# Two of the largest pages.
ENOUGH = 80
# The newest (or oldest) posts of each author by an index-only scan, then the first of them all.
PULL = f"""
SELECT wanted.author_id, p.moment, p.shown_author, p.shown_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS wanted (author_id, from_moment, to_moment)
CROSS JOIN LATERAL (
    {LIVE_EVENTS} AND author_id = wanted.author_id
        AND moment >= from_moment AND moment < to_moment
    ORDER BY moment {{order}} LIMIT %s
) p
ORDER BY p.moment / {SEQUENCES} {{order}}, wanted.author_id {{order}}, p.moment {{order}} LIMIT %s
"""  # noqa: S608
DOWN, UP = PULL.format(order="DESC"), PULL.format(order="ASC")


def pull(
    authors: TimelineAuthors, time_range: TimeRange, limit: int, newest_first: bool = True
) -> list[Entry]:
    """The `limit` newest (or oldest) entries of the authors inside the range, in that order.

    Fewer than `limit` means that there are no more. Source: the recent-posts index above its
    low-water mark, the posts tables below it. Cost: as the index; one query per shard, in parallel,
    when entries below the mark are needed.
    """
    recent = recent_index().load(authors, time_range, limit, newest_first)
    return complete_from_tables(recent, authors, time_range, limit, newest_first)


def iter_pulled(
    authors: TimelineAuthors, time_range: TimeRange, newest_first: bool
) -> Iterator[Entry]:
    """All entries of the authors inside the range, pulled in batches as the caller takes them.

    Cost: as `pull`, for every PULL_BATCH entries.
    """
    while True:
        entries = pull(authors, time_range, PULL_BATCH, newest_first)
        yield from entries
        if len(entries) < PULL_BATCH:
            return
        time_range = time_range.after(entries[-1].event, newest_first)


def complete_from_tables(
    recent: RecentEntries,
    authors: TimelineAuthors,
    time_range: TimeRange,
    limit: int,
    newest_first: bool = True,
) -> list[Entry]:
    """The index's entries of the range, with the entries that only the posts tables have."""
    if recent.complete_from is None:
        return pull_from_tables(authors.author_ids, time_range, limit, newest_first)
    mark = PostId(recent.complete_from, 0, 0)
    older = TimeRange(time_range.above, min(time_range.below, mark))
    if newest_first:
        lacking = limit - len(recent.entries)
        return recent.entries + pull_from_tables(authors.author_ids, older, lacking)
    first = pull_from_tables(authors.author_ids, older, limit, newest_first=False)
    return (first + recent.entries)[:limit]


def pull_from_tables(
    author_ids: Sequence[int], time_range: TimeRange, limit: int, newest_first: bool = True
) -> list[Entry]:
    """As `pull`, for these authors and from the posts tables only. Never stale.

    Cost: no query for an empty range; else one per shard, in parallel. Worst case: `limit` index
    rows per author.
    """
    if limit <= 0 or time_range.above >= time_range.below:
        return []
    calls = {
        alias: partial(_pull_shard, alias, authors, time_range, limit, newest_first)
        for alias, authors in group_by_shard(author_ids).items()
    }
    entries = [entry for answer in scatter(calls).values() for entry in answer]
    return sorted(entries, reverse=newest_first)[:limit]


def _pull_shard(
    alias: str, authors: Sequence[int], time_range: TimeRange, limit: int, newest_first: bool
) -> list[Entry]:
    above = [moment_after(time_range.above, author) for author in authors]
    below = [moment_below(time_range.below, author) for author in authors]
    params = (list(authors), above, below, limit, limit)
    rows = fetch_all(alias, DOWN if newest_first else UP, params)
    return [Entry(PostId.at(*row[:2]), PostId.at(*row[2:])) for row in rows]


def compute_timeline(reader_id: int, following: Following, kept_from: int) -> LiveTimeline:
    """A reader's newest entries with the low-water mark that they allow, computed from the posts.

    `kept_from`: no entry is older than this second. When the recent-posts index has ENOUGH entries,
    the timeline ends at the index's low-water mark. No other shard is queried then, and none has to
    be up. Cost: as `pull`.
    """
    limit, authors = settings.TIMELINE_ENTRIES, TimelineAuthors(reader_id, following.followee_ids)
    entries, complete_from = _list_newest(authors, kept_from, limit)
    if len(entries) == limit:
        # A cut inside a second leaves that second incomplete.
        complete_from = entries[-1].event.second + 1
    kept = [e.packed for e in reversed(entries) if e.event.second >= complete_from]
    return LiveTimeline.of(kept, complete_from, following.version)


def _list_newest(authors: TimelineAuthors, kept_from: int, limit: int) -> tuple[list[Entry], int]:
    """At most `limit` entries. If there are fewer: the second from which on they are all."""
    kept = TimeRange(PostId(kept_from, 0, 0))
    recent = recent_index().load(authors, kept, limit, newest_first=True)
    if recent.complete_from is not None and len(recent.entries) >= min(ENOUGH, limit):
        return recent.entries, max(recent.complete_from, kept_from)
    return complete_from_tables(recent, authors, kept, limit), kept_from


def list_newest_entries(author_id: int, complete_from: int, most: int) -> tuple[list[Entry], int]:
    """One author's entries from the second `complete_from` on, newest first, at most `most`.

    Also returns the low-water mark of these entries, which is higher than `complete_from` when
    there were more than `most`. Source: the posts table. Cost: one query on the author's shard.
    """
    newest = PostRange(complete_from * SEQUENCES, PAST_ALL, most + 1, newest_first=True)
    entries = [Entry(*pair) for pair in list_timeline(author_id, newest)]
    if len(entries) > most:
        complete_from = entries[-1].event.second + 1
    return [e for e in entries if e.event.second >= complete_from], complete_from
