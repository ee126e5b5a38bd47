"""Pulls from the recent-posts index: one query on the reader's own shard."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import SHOWN
from timelines.recent.steps import Steps, steps_down, steps_up
from timelines.types import Entry, TimelineAuthors, TimeRange

# The mark is read with the rows it speaks of. A step is looked at when the steps before it brought
# too little: it can only be the outer side of its join (LATERAL), and its rows come in order. The
# range of moments is what the index finds; the comparison of whole ids is exact on ties.
READ = f"""
SELECT reach.complete_from, found.*
FROM timelines_lowwatermark AS reach LEFT JOIN LATERAL (
    SELECT entry.* FROM (
        SELECT GREATEST(lower, reach.complete_from * {SEQUENCES}) AS lower, upper
        FROM unnest(%(lowers)s::bigint[], %(uppers)s::bigint[]) AS one (lower, upper)
        WHERE upper > reach.complete_from * {SEQUENCES} ORDER BY one.upper {{order}}
    ) AS step CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT author_id, moment, COALESCE(shown_author, author_id) AS shown_author,
                COALESCE(shown_moment, moment) AS shown_moment
            FROM timelines_recentpost WHERE author_id = ANY(%(followees)s::bigint[])
                AND moment >= step.lower AND moment < step.upper
            UNION ALL
            SELECT author_id, moment, {SHOWN} FROM posts_post
            WHERE author_id = %(own)s AND moment >= step.lower AND moment < step.upper
                AND deleted_at IS NULL
        ) AS event
        WHERE (moment / {SEQUENCES}, author_id, moment)
                > (%(above_second)s, %(above_author)s, %(above_moment)s)
            AND (moment / {SEQUENCES}, author_id, moment)
                < (%(below_second)s, %(below_author)s, %(below_moment)s)
        ORDER BY moment / {SEQUENCES} {{order}}, author_id {{order}}, moment {{order}}
        LIMIT %(limit)s
    ) AS entry LIMIT %(limit)s
) AS found ON true
"""  # noqa: S608
DOWN, UP = READ.format(order="DESC"), READ.format(order="ASC")


class RecentEntries(NamedTuple):
    """Entries in the order asked for, and from which second on there are no others.

    `complete_from` None: this shard's index is not to be read (yet).
    """

    entries: list[Entry]
    complete_from: int | None


def load_recent(
    circle: TimelineAuthors,
    span: TimeRange,
    limit: int,
    newest_first: bool = True,
    clock_s: Callable[[], float] = time.time,
) -> RecentEntries:
    """The `limit` newest (or oldest) entries of the circle inside the span that are indexed.

    Source: the index on the reader's shard, for posts of others as late as the drain is, with some
    that are deleted meanwhile; the reader's posts table for their own. The clock only decides how
    far is looked at first. Cost: one query.
    """
    lower, upper = span.above.second * SEQUENCES, (span.below.second + 1) * SEQUENCES
    if newest_first:
        sql, steps = DOWN, steps_down(lower, upper, (second_of(clock_s()) + 1) * SEQUENCES)
    else:
        sql, steps = UP, steps_up(lower, upper)
    rows = fetch_all(shard_of(circle.reader_id), sql, _params(circle, span, limit, steps))
    entries = [Entry(PostId.at(*row[1:3]), PostId.at(*row[3:])) for row in rows if row[1]]
    return RecentEntries(entries, rows[0][0] if rows else None)


def _params(circle: TimelineAuthors, span: TimeRange, limit: int, steps: Steps) -> dict[str, Any]:
    lowers, uppers = zip(*steps, strict=True)
    return {
        "own": circle.reader_id if circle.has_own else None,
        "followees": list(circle.followee_ids),
        "lowers": list(lowers),
        "uppers": list(uppers),
        "limit": limit,
        **_bound("above", span.above),
        **_bound("below", span.below),
    }


def _bound(name: str, bound: PostId) -> dict[str, int]:
    second, author_id, _ = bound
    return {f"{name}_second": second, f"{name}_author": author_id, f"{name}_moment": bound.moment}
