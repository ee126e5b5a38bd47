"""Pulls from a replicated index: one query on the reader's own shard."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import LIVE_EVENTS
from timelines.recent.interface import RecentEntries
from timelines.recent.low_water_mark import OF_ALL
from timelines.recent.pull_steps import Steps, steps_down, steps_up
from timelines.types import Entry, TimelineAuthors, TimeRange

# The low-water mark is read by the same statement as the rows below it. A step is searched only
# when the steps before it had too few entries. For that it has to be the outer side of its join
# (LATERAL), and the steps have to be in order. The range of moments serves the index; the
# comparison of whole ids is exact for posts of the same second.
READ = f"""
SELECT mark.complete_from, found.*
FROM timelines_lowwatermark AS mark LEFT JOIN LATERAL (
    SELECT entry.* FROM (
        SELECT GREATEST(lower, mark.complete_from * {SEQUENCES}) AS lower, upper
        FROM unnest(%(lowers)s::bigint[], %(uppers)s::bigint[]) AS one (lower, upper)
        WHERE upper > mark.complete_from * {SEQUENCES} ORDER BY one.upper {{order}}
    ) AS step CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT author_id, moment, COALESCE(shown_author, author_id) AS shown_author,
                COALESCE(shown_moment, moment) AS shown_moment
            FROM timelines_recentpost WHERE author_id = ANY(%(followees)s::bigint[])
                AND moment >= step.lower AND moment < step.upper
            UNION ALL
            {LIVE_EVENTS} AND author_id = %(own)s
                AND moment >= step.lower AND moment < step.upper
        ) AS event
        WHERE (moment / {SEQUENCES}, author_id, moment)
                > (%(above_second)s, %(above_author)s, %(above_moment)s)
            AND (moment / {SEQUENCES}, author_id, moment)
                < (%(below_second)s, %(below_author)s, %(below_moment)s)
        ORDER BY moment / {SEQUENCES} {{order}}, author_id {{order}}, moment {{order}}
        LIMIT %(limit)s
    ) AS entry LIMIT %(limit)s
) AS found ON true
WHERE mark.id = {OF_ALL}
"""  # noqa: S608
DOWN, UP = READ.format(order="DESC"), READ.format(order="ASC")
# Without a mark the index is not read, so all have arrived.
ARRIVED = f"""
SELECT one.author_id, one.moment
FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
LEFT JOIN timelines_lowwatermark AS mark ON mark.id = {OF_ALL}
WHERE mark.complete_from IS NULL OR one.moment < mark.complete_from * {SEQUENCES}
    OR EXISTS (
        SELECT FROM timelines_recentpost AS post
        WHERE post.author_id = one.author_id AND post.moment = one.moment)
"""  # noqa: S608


def load_recent(
    authors: TimelineAuthors,
    time_range: TimeRange,
    limit: int,
    newest_first: bool = True,
    clock_s: Callable[[], float] = time.time,
) -> RecentEntries:
    """The `limit` newest (or oldest) indexed entries of the authors inside the range.

    Source: for followees the index on the reader's shard, which is as late as the drain and may
    have some deleted posts; for the reader's own posts the posts table. The clock only chooses the
    first steps. Cost: one query.
    """
    lower, upper = time_range.above.second * SEQUENCES, (time_range.below.second + 1) * SEQUENCES
    if newest_first:
        sql, steps = DOWN, steps_down(lower, upper, (second_of(clock_s()) + 1) * SEQUENCES)
    else:
        sql, steps = UP, steps_up(lower, upper)
    params = _params(authors, time_range, limit, steps)
    rows = fetch_all(shard_of(authors.reader_id), sql, params)
    entries = [Entry(PostId.at(*row[1:3]), PostId.at(*row[3:])) for row in rows if row[1]]
    return RecentEntries(entries, rows[0][0] if rows else None)


def list_indexed(reader_id: int, entries: Sequence[Entry]) -> list[Entry]:
    """Those of the entries that the index has, or that are below its low-water mark.

    Cost: one query on the reader's shard, none without entries.
    """
    if not entries:
        return []
    columns = [e.event.author_id for e in entries], [e.event.moment for e in entries]
    rows = fetch_all(shard_of(reader_id), ARRIVED, columns)
    arrived = {PostId.at(*row) for row in rows}
    return [entry for entry in entries if entry.event in arrived]


def _params(
    authors: TimelineAuthors, time_range: TimeRange, limit: int, steps: Steps
) -> dict[str, Any]:
    lowers, uppers = zip(*steps, strict=True)
    return {
        "own": authors.reader_id if authors.has_own else None,
        "followees": list(authors.followee_ids),
        "lowers": list(lowers),
        "uppers": list(uppers),
        "limit": limit,
        **_bound("above", time_range.above),
        **_bound("below", time_range.below),
    }


def _bound(name: str, bound: PostId) -> dict[str, int]:
    second, author_id, _ = bound
    return {f"{name}_second": second, f"{name}_author": author_id, f"{name}_moment": bound.moment}
