"""The late posts of one shard's index: those that became visible after a client saw a newer one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from infra.sharding.buckets import moved_at_ms
from infra.sharding.sql import fetch_all
from posts.ids import EPOCH, SEQUENCES, PostId
from relations.sql import FOLLOWEES
from timelines.polling.types import MOST_LATE, LatePost
from timelines.recent.actions.settle_posts import NOW_MS, SETTLE_MS
from timelines.recent.low_water_mark import HAS_OWN
from timelines.types import Entry

# A post is visible at most this long after its row arrived or was settled.
MARGIN_MS = SETTLE_MS + 50
# A row that arrived so soon after its second was not visible before it arrived.
ON_TIME_MS = 1_500
# Databases' clocks and web processes' clocks differ by less.
SKEW_MS = 1_000
# Rows that arrived later than this after their second are in the index of late rows.
LATE_MS = 3_000

VISIBLE = "COALESCE(settled, arrival)"
IS_LATE = f"(settled IS NOT NULL OR arrival > (moment / {SEQUENCES} + {EPOCH}) * 1000 + {LATE_MS})"
HOME_AUTHORS = f"{FOLLOWEES} AND follower_id = %(reader)s UNION ALL SELECT %(reader)s::bigint"
LIST_AUTHORS = "SELECT unnest(%(authors)s::bigint[]) AS author_id"
# A row that arrived even earlier before its second is not of a clock that was ahead: it is old.
MOST_AHEAD_MS = 86_400_000
# Between the arrivals of one post on two shards: both answered when buckets moved between them.
MOVE_MARGIN_MS = 60_000
# An own post is seen before it arrives, and one that has not arrived may be an own one.
UNDELIVERED_MS = 10_000
# A floor in the future is of a clock that went back since: what became visible in this time before
# is returned, maybe again.
TAKEN_BACK_MS = 3_600_000
_NOW_MS = NOW_MS.replace("clock_timestamp", "statement_timestamp")
CLOCK = f"SELECT %(floor)s::bigint AS floor, {_NOW_MS} AS now_ms"
ARRIVAL = f"""
SELECT (SELECT arrival FROM timelines_recentpost WHERE author_id = %s AND moment = %s), {_NOW_MS}
"""  # noqa: S608
# Rows of the last seconds below the cursor, author by author: OFFSET keeps the planner from a join
# with the posts of all authors.
NEAR = f"""
SELECT post.* FROM wanted CROSS JOIN LATERAL (
    SELECT * FROM timelines_recentpost AS post WHERE post.author_id = wanted.author_id
        AND moment >= %(near)s AND moment < %(upper)s AND {VISIBLE} > clock.floor OFFSET 0
) AS post
UNION ALL"""  # noqa: S608
# All older ones are late, and in the index of late rows.
READ = f"""
WITH wanted AS ({{authors}}), clock AS ({CLOCK})
SELECT clock.floor, clock.now_ms, EXISTS ({HAS_OWN}), late.author_id, late.moment,
    COALESCE(late.shown_author, late.author_id), COALESCE(late.shown_moment, late.moment),
    late.visible_ms
FROM clock LEFT JOIN LATERAL (
    SELECT row.*, COALESCE(row.settled, row.arrival) AS visible_ms FROM (
        {{near}}
        SELECT post.* FROM timelines_recentpost AS post JOIN wanted USING (author_id)
        WHERE {IS_LATE} AND {VISIBLE} > clock.floor AND moment < LEAST(%(near)s, %(upper)s)
    ) AS row
    WHERE (row.moment / {SEQUENCES}, row.author_id, row.moment)
        < (%(cursor_second)s, %(cursor_author)s, %(cursor_moment)s)
    ORDER BY visible_ms, row.moment, row.author_id LIMIT {MOST_LATE}
) AS late ON true
"""  # noqa: S608


class PolledAuthors(NamedTuple):
    """Whose posts are polled: `members`, or if None the reader and the reader's followees."""

    reader_id: int
    members: Sequence[int] | None = None


class LateRows(NamedTuple):
    """What a shard answered, in the order of visible times. `now_ms`: its clock.

    `has_own_only`: its index has the posts of its own accounts only.
    """

    posts: Sequence[LatePost]
    floor: int
    now_ms: int
    has_own_only: bool


def read_late_posts(
    alias: str, authors: PolledAuthors, cursor: PostId, floor: int | None
) -> LateRows:
    """The posts of these authors below the cursor that became visible after `floor`, in this
    shard's index, also below its low-water mark. At most MOST_LATE. Raises: errors of UNREACHABLE.
    Cost: one query; one more without a floor, or if the shard's clock went back since then."""
    since = read_floor(alias, authors.reader_id, cursor) if floor is None else floor
    late = _read(alias, authors, cursor, since)
    is_taken_back = late.now_ms < since
    return _read(alias, authors, cursor, late.now_ms - TAKEN_BACK_MS) if is_taken_back else late


def read_floor(alias: str, reader_id: int, cursor: PostId) -> int:
    """The time on this shard before which the reader cannot have seen the cursor's post. One query
    by key."""
    ((arrival, now_ms),) = fetch_all(alias, ARRIVAL, (cursor.author_id, cursor.moment))
    return first_seen(cursor, arrival, now_ms, cursor.author_id == reader_id)


def first_seen(cursor: PostId, arrival: int | None, now_ms: int, is_own: bool) -> int:
    """As `read_floor`. `arrival`: of the cursor's row; None if there is none.

    The second of a post is that of a web process. If the post arrived before its second, the clock
    of that process was ahead.
    """
    made_ms = _made_ms(cursor)
    if arrival is None:
        return earliest_floor(cursor, None, now_ms)
    if made_ms - MOST_AHEAD_MS <= arrival < made_ms - SKEW_MS:
        return arrival - (UNDELIVERED_MS if is_own else MARGIN_MS)
    is_on_time = made_ms - SKEW_MS <= arrival <= made_ms + ON_TIME_MS
    return arrival - MARGIN_MS if is_on_time and not is_own else _just_before(made_ms)


def _read(alias: str, authors: PolledAuthors, cursor: PostId, floor: int) -> LateRows:
    rows = fetch_all(alias, *_statement(authors, cursor, floor))
    posts = [LatePost(_entry(row), row[7]) for row in rows if row[3] is not None]
    return LateRows(posts, *rows[0][:3])


def _statement(authors: PolledAuthors, cursor: PostId, floor: int) -> tuple[str, dict[str, Any]]:
    wanted = HOME_AUTHORS if authors.members is None else LIST_AUTHORS
    near, upper = _moment_at(floor - LATE_MS - 1_000), (cursor.second + 1) * SEQUENCES
    params = {
        "reader": authors.reader_id,
        "authors": list(authors.members or ()),
        "floor": floor,
        "cursor_second": cursor.second,
        "cursor_author": cursor.author_id,
        "cursor_moment": cursor.moment,
        "near": near,
        "upper": upper,
    }
    return READ.format(authors=wanted, near=NEAR if near < upper else ""), params


def earliest_floor(cursor: PostId, floor: int | None, now_ms: int) -> int:
    """The floor. If there is none: the time of the cursor's second, if no shard can be asked when
    its post arrived."""
    if floor is not None:
        return floor
    return min(_just_before(_made_ms(cursor)), now_ms - UNDELIVERED_MS)


def floor_after_move(owner_id: int, cursor: PostId, floor: int | None) -> int | None:
    """The floor to ask the owner's shard with. `floor` None: not known. No query.

    The floors of a reader whose rows moved are times of the shard before. The other shard's index
    has the same posts, but they arrived there at other times. So for cursors from before the move
    the floor is earlier. Then posts may be repeated; none is lost.
    """
    moved_ms = moved_at_ms(owner_id)
    known = cursor.posted_at_s * 1000 if floor is None else floor
    if moved_ms is None or known > moved_ms + SKEW_MS:
        return floor
    return known - SKEW_MS - MOVE_MARGIN_MS


def _just_before(made_ms: int) -> int:
    return made_ms - SKEW_MS - MARGIN_MS


def _made_ms(post_id: PostId) -> int:
    """The start of its second, in ms since 1970."""
    return post_id.posted_at_s * 1000


def _moment_at(at_ms: int) -> int:
    """The first moment of this time's second."""
    return max(0, at_ms // 1000 - EPOCH) * SEQUENCES


def _entry(row: Sequence[Any]) -> Entry:
    return Entry(PostId.at(*row[3:5]), PostId.at(*row[5:7]))
