"""Finds the posts with certain tags that became visible after a client saw a newer one."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import EPOCH, PostId
from timelines.polling.types import MOST_LATE, LatePost, LatePosts, without_repeats
from timelines.recent.actions.settle_posts import NOW_MS
from timelines.recent.queries.late_rows import (
    LATE_MS,
    MARGIN_MS,
    TAKEN_BACK_MS,
    earliest_floor,
    first_seen,
    floor_after_move,
)
from timelines.tags.types import tag_id_of
from timelines.types import Entry

_NOW_MS = NOW_MS.replace("clock_timestamp", "statement_timestamp")
ARRIVAL = f"""
SELECT {_NOW_MS}, min(arrival) FROM tags_taggedpost
WHERE tag_id = ANY(%s::bigint[]) AND second = %s AND author_id = %s AND sequence = %s
"""  # noqa: S608
# Rows of the last seconds below the cursor, and rows that are in the index of late rows.
READ = f"""
SELECT clock.now_ms, late.second, late.author_id, late.sequence, late.arrival
FROM (SELECT {_NOW_MS} AS now_ms) AS clock
LEFT JOIN LATERAL (
    SELECT row.* FROM unnest(%(tag_ids)s::bigint[]) AS wanted (tag_id) CROSS JOIN LATERAL (
        SELECT * FROM tags_taggedpost AS post
        WHERE post.tag_id = wanted.tag_id AND second >= %(near)s AND second <= %(cursor_second)s
            AND arrival > %(floor)s
        UNION ALL
        SELECT * FROM tags_taggedpost AS post
        WHERE post.tag_id = wanted.tag_id AND second < %(near)s AND second <= %(cursor_second)s
            AND arrival > %(floor)s AND arrival > (second + {EPOCH}) * 1000 + {LATE_MS}
    ) AS row
    WHERE (second, author_id, sequence)
        < (%(cursor_second)s, %(cursor_author)s, %(cursor_sequence)s)
    ORDER BY arrival, second, author_id, sequence LIMIT {MOST_LATE}
) AS late ON true
"""  # noqa: S608

ByShard = Mapping[str, Sequence[int]]


def load_late_tagged(names: Iterable[str], cursor: PostId, floor: int | None) -> LatePosts:
    """The posts with any of these tags below the cursor that became visible after `floor`.

    `floor` None: since before the cursor's post can have been seen. Call it before the page is
    read. Source: the tag index. Raises: OperationalError, InterfaceError, as the page does.
    Cost: one query on each shard that has one of the tags; one more without a floor, or if a clock
    went back since then.
    """
    tag_ids = [*map(tag_id_of, names)]
    by_shard = group_by_shard(tag_ids)
    floors = [floor_after_move(tag_id, cursor, floor) for tag_id in tag_ids]
    known = _read_floor(by_shard, cursor) if floor is None else floor
    since = min((known if floor is None else floor for floor in floors), default=known)
    late, now_ms = _read(by_shard, cursor, since)
    if now_ms < since:
        since = now_ms - TAKEN_BACK_MS
        late, now_ms = _read(by_shard, cursor, since)
    return LatePosts(late, since, now_ms - MARGIN_MS)


def _read_floor(by_shard: ByShard, cursor: PostId) -> int:
    """By the arrival of the cursor's post. Its author may have seen it before."""
    calls = {
        alias: partial(fetch_all, alias, ARRIVAL, (ids, *cursor)) for alias, ids in by_shard.items()
    }
    answers = [rows[0] for rows in scatter(calls).values()]
    arrivals = [arrival for _, arrival in answers if arrival is not None]
    now_ms = min(now_ms for now_ms, _ in answers)
    seen_ms = first_seen(cursor, min(arrivals, default=None), now_ms, is_own=True)
    return min(seen_ms, earliest_floor(cursor, None, now_ms))


def _read(by_shard: ByShard, cursor: PostId, since: int) -> tuple[list[LatePost], int]:
    """Late posts, and the clock of the shard whose clock is behind the others."""
    params = {
        "floor": since,
        "near": (since - LATE_MS) // 1000 - 1 - EPOCH,
        "cursor_second": cursor.second,
        "cursor_author": cursor.author_id,
        "cursor_sequence": cursor.sequence,
    }
    calls = {alias: partial(_read_of_shard, alias, ids, params) for alias, ids in by_shard.items()}
    answers = scatter(calls).values()
    late = without_repeats(post for _, posts in answers for post in posts)
    return late, min(now_ms for now_ms, _ in answers)


def _read_of_shard(
    alias: str, tag_ids: Sequence[int], params: dict[str, Any]
) -> tuple[int, list[LatePost]]:
    """The shard's clock, and its late posts."""
    rows = fetch_all(alias, READ, {"tag_ids": list(tag_ids), **params})
    posts = [
        LatePost(Entry.of_post(PostId(*row[1:4])), row[4]) for row in rows if row[1] is not None
    ]
    return rows[0][0], posts
