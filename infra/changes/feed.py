"""Delivered changes of one database in the order in which they became visible, from a position on.

Two transactions may commit in another order than they took their sequence numbers, so a reader of
these numbers alone would skip rows. A row has the id of the transaction that filed it. A reader
takes only rows of transactions below the oldest one that still runs: all of those have ended.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings

from infra.changes.errors import PositionLost, PositionTooOld
from infra.sharding.sql import fetch_all, fetch_one

# Transactions that file changes are shorter, and so are the differences between clocks.
MARGIN = timedelta(minutes=10)
# So long before its day is dropped a reader no longer begins with it: it must get past that day.
HEAD_START = timedelta(hours=1)
TIMELINE = "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int"
# Each row of a reader's history. `written_by`: the transaction by which this server has it. A dump
# that is restored keeps the others, and has another one.
ROW = "filed_by::text::bigint, sequence, delivered_at, xmin::text::bigint"
# The newest row that readers get; one row without it when there is none.
NOW = f"""
SELECT {TIMELINE}, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, clock_timestamp(), row.*
FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    SELECT {ROW} FROM changes_delivered WHERE filed_by < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY filed_by DESC, sequence DESC LIMIT 1
) AS row ON true
"""  # noqa: S608
# So many rows back. By index, without the rows before.
RECENT = f"""
SELECT {TIMELINE}, {ROW} FROM changes_delivered
WHERE filed_by < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY filed_by DESC, sequence DESC LIMIT 1 OFFSET %s
"""  # noqa: S608
# One row without a change when there is none. `next_at`: of the oldest row behind the position that
# no reader gets yet. Rows of later transactions than there were come from a dump of another server.
READ = f"""
SELECT head.timeline, head.at, head.next_at, head.has_last, row.*
FROM (
    SELECT {TIMELINE} AS timeline, clock_timestamp() AS at,
        (SELECT delivered_at FROM changes_delivered
        WHERE (filed_by, sequence) > (%(transaction)s::text::xid8, %(sequence)s)
            AND filed_by < pg_snapshot_xmax(pg_current_snapshot())
            AND delivered_on >= %(first_day)s
        ORDER BY filed_by, sequence LIMIT 1) AS next_at,
        EXISTS (SELECT FROM changes_delivered WHERE filed_by = %(transaction)s::text::xid8
            AND sequence = %(sequence)s AND delivered_at = %(row_at)s
            AND %(written_by)s IN (0, xmin::text::bigint)) AS has_last
) AS head LEFT JOIN LATERAL (
    SELECT {ROW}, id, kind, owner_id, payload::text, created_at
    FROM changes_delivered
    WHERE (filed_by, sequence) > (%(transaction)s::text::xid8, %(sequence)s)
        AND filed_by < pg_snapshot_xmin(pg_current_snapshot())
        AND delivered_on >= %(first_day)s
    ORDER BY filed_by, sequence LIMIT %(limit)s
) AS row ON true
"""  # noqa: S608
HEAD_COLUMNS = 4


class FeedPosition(NamedTuple):
    """Up to where a reader has read: the last row that it got, or the newest one where it began.

    The row proves that the server still has the history that the reader knows. `sequence` is 0 when
    there is none: the reader gets all of its day. `timeline`: of the server's log; a server that
    was promoted begins another one. `transaction`, `sequence`: of the row; `row_at`: when it was
    delivered; `written_by`: see ROW, 0 in positions of old code. `complete_at`: what was delivered
    before it has been read.
    """

    timeline: int
    transaction: int
    sequence: int
    row_at: datetime
    complete_at: datetime
    written_by: int = 0


class FiledChange(NamedTuple):
    """A delivered change. `payload`: JSON text."""

    id: int
    kind: str
    owner_id: int
    payload: str
    created_at: datetime
    position: FeedPosition


class FeedPage(NamedTuple):
    """`position`: behind the last change of the page."""

    changes: Sequence[FiledChange]
    position: FeedPosition


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Before everything that is kept.
OLDEST = FeedPosition(0, 0, 0, _EPOCH, _EPOCH)


def position_now(alias: str) -> FeedPosition:
    """Behind everything that has been delivered. One query by index.

    Transactions that run now may still file changes, which a reader from here on gets.
    """
    [(timeline, transaction, at, *row)] = fetch_all(alias, NOW)
    if row[0] is None:
        return FeedPosition(timeline, transaction, 0, at, at)
    return _at_row(timeline, row)._replace(complete_at=at)


def position_before(moment: datetime) -> FeedPosition:
    """Before all that was delivered since this moment, at most a day before. OLDEST if it is as
    long ago. No query."""
    day = (moment.astimezone(UTC) - MARGIN).date()
    if day <= _oldest_day(HEAD_START):
        return OLDEST
    begins_at = datetime(day.year, day.month, day.day, tzinfo=UTC) + MARGIN
    return OLDEST._replace(row_at=begins_at, complete_at=begins_at)


def position_of_recent(alias: str, changes: int) -> FeedPosition:
    """Behind the change that so many changes came after; OLDEST if there are not so many.

    One query by index.
    """
    row = fetch_one(alias, RECENT, (changes,))
    if row is None:
        return OLDEST
    return _at_row(row[0], row[1:])


def read_feed(alias: str, after: FeedPosition, limit: int) -> FeedPage:
    """The next changes behind a position, at most `limit`. One query by index.

    A transaction that writes and does not end keeps all later changes back, so none is skipped.
    Raises: PositionTooOld when changes behind the position may have been dropped. PositionLost when
    the server lacks the row of the position: it was promoted or restored. Without a row that is
    still kept nothing says what the server has lost, so the reader gets all that was delivered
    since the day up to which it has read. A restored server counts transactions from a lower one.
    """
    oldest_day = _oldest_day(MARGIN)
    if after != OLDEST and (after.complete_at - MARGIN).date() < oldest_day:
        raise PositionTooOld
    has_row = after.sequence > 0 and after.row_at.date() >= oldest_day
    begin = after if has_row else after._replace(transaction=0, sequence=0)
    values = begin._asdict() | {"limit": limit, "first_day": _first_day(after, has_row)}
    rows = fetch_all(alias, READ, values)
    timeline, at, next_at, has_last = rows[0][:HEAD_COLUMNS]
    if has_row and not has_last:
        raise PositionLost
    changes = [_change(row) for row in rows if row[HEAD_COLUMNS] is not None]
    if changes:
        return FeedPage(changes, changes[-1].position)
    complete_at = at if next_at is None else min(next_at, at)
    return FeedPage([], after._replace(timeline=timeline, complete_at=complete_at))


def _first_day(after: FeedPosition, has_row: bool) -> date:
    """Of a reader that has read nothing: not the day that is dropped next, nor days that are late.

    Else its next page could be too old.
    """
    if has_row:
        return date.min
    if after != OLDEST:
        return (after.complete_at - MARGIN).date()
    now = datetime.now(UTC)
    return min(_oldest_day(HEAD_START) + timedelta(days=1), now.date())


def _oldest_day(ahead: timedelta) -> date:
    """The oldest one that is kept then."""
    return (datetime.now(UTC) + ahead).date() - timedelta(days=settings.CHANGE_REPLAY_DAYS)


def _at_row(timeline: int, row: Sequence[Any]) -> FeedPosition:
    transaction, sequence, delivered_at, written_by = row
    return FeedPosition(timeline, transaction, sequence, delivered_at, delivered_at, written_by)


def _change(row: Sequence[Any]) -> FiledChange:
    *place, change_id, kind, owner_id, payload, created_at = row[HEAD_COLUMNS:]
    return FiledChange(change_id, kind, owner_id, payload, created_at, _at_row(row[0], place))
