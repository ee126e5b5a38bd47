"""What a shard knows of its own authors' newest posts, for their packs."""

from collections.abc import Sequence
from typing import Any

from infra.clock import now_ms
from infra.sharding.sql import fetch_all
from posts.ids import EPOCH, SEQUENCES, PostId
from posts.sql import LIVE_EVENTS
from timelines.recent.low_water_mark import FUTURE
from timelines.recent.queries.late_rows import IS_LATE, LATE_MS, VISIBLE
from timelines.recent.records import Arrival, Pack
from timelines.types import Entry

# Posts of an author in a pack that was just loaded.
MOST = 450
# Older posts of the author that became visible lately.
MOST_LATE, LATE_S = 50, 3 * 86_400
# OFFSET keeps the planner from the late posts of all authors. Above the mark the index has what has
# arrived. Below it all posts have arrived.
NEWEST = f"""
SELECT mark.second, wanted.author_id, post.*
FROM (
    SELECT COALESCE(min(complete_from), {FUTURE}) AS second FROM timelines_lowwatermark
) AS mark
CROSS JOIN unnest(%(authors)s::bigint[]) AS wanted (author_id)
LEFT JOIN LATERAL (
    (
        SELECT * FROM (
            SELECT moment, COALESCE(shown_author, author_id) AS shown_author,
                COALESCE(shown_moment, moment) AS shown_moment, {VISIBLE} AS visible_ms,
                false AS is_late
            FROM timelines_recentpost
            WHERE author_id = wanted.author_id AND moment >= mark.second * {SEQUENCES}
            UNION ALL
            SELECT moment, shown_author, shown_moment, 0, false FROM (
                {LIVE_EVENTS} AND author_id = wanted.author_id
                    AND moment < mark.second * {SEQUENCES}
            ) AS older
        ) AS newest ORDER BY moment DESC LIMIT {MOST + 1}
    ) UNION ALL (
        SELECT moment, COALESCE(shown_author, author_id), COALESCE(shown_moment, moment),
            {VISIBLE}, true
        FROM (
            SELECT * FROM timelines_recentpost WHERE author_id = wanted.author_id OFFSET 0
        ) AS mine
        WHERE {IS_LATE} AND {VISIBLE} > %(late_ms)s
        ORDER BY {VISIBLE} DESC LIMIT {MOST_LATE + 1}
    )
) AS post ON true
"""  # noqa: S608


def read_packs(alias: str, author_ids: Sequence[int]) -> dict[int, Pack]:
    """The packs of authors of this shard. One query."""
    late_ms = now_ms() - LATE_S * 1000
    rows = fetch_all(alias, NEWEST, {"authors": list(author_ids), "late_ms": late_ms})
    by_author: dict[int, list[Sequence[Any]]] = {author_id: [] for author_id in author_ids}
    for row in rows:
        if row[2] is not None:
            by_author[row[1]].append(row)
    mark = rows[0][0] if rows else 0
    return {
        author_id: _pack(author_id, mark, late_ms, mine) for author_id, mine in by_author.items()
    }


def _pack(author_id: int, mark: int, late_ms: int, rows: Sequence[Sequence[Any]]) -> Pack:
    newest = [_arrival(author_id, row) for row in rows if not row[6]]
    late = [_arrival(author_id, row) for row in rows if row[6]]
    complete_from = _first_whole_second(newest)
    if len(late) > MOST_LATE:
        late_ms = min(arrival.visible_ms for arrival in late)
    # A post that is not among the late ones became visible at most LATE_MS after its second.
    late_from = max(complete_from, mark) + LATE_MS // 1000 + 1
    kept = {arrival for arrival in newest if arrival.entry.event.second >= complete_from}
    late_from = max(late_from, late_ms // 1000 + 1 - EPOCH)
    return Pack.of(kept | set(late[:MOST_LATE]), complete_from, late_from)


def _first_whole_second(newest: Sequence[Arrival]) -> int:
    """0: these are all posts of the author."""
    return min(newest).entry.event.second + 1 if len(newest) > MOST else 0


def _arrival(author_id: int, row: Sequence[Any]) -> Arrival:
    event, shown = PostId.at(author_id, row[2]), PostId.at(*row[3:5])
    return Arrival(Entry(event, shown), row[5])
