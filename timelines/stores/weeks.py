"""The weeks of timelines_entry: created ahead, and dropped when no store reads them any more."""

from datetime import UTC, date, datetime, timedelta

import structlog
from django.conf import settings

from infra.sharding.buckets import owned_condition
from infra.sharding.partitions import DailyPartitions
from infra.sharding.sql import execute, fetch_one
from timelines.recent.days import first_second

WEEK = timedelta(days=7)
PARTITIONS = DailyPartitions("timelines_entry", "second", first_second, WEEK.days)
# Longer than pushes reach a head (postgres.py).
EXPIRED_AFTER = timedelta(days=3)
EXPIRED_PER_RUN = 500
DELETE_EXPIRED = """
WITH expired AS (
    SELECT reader_id FROM timelines_head WHERE read_at < now() - %s * interval '1 day' AND {owned}
    ORDER BY read_at LIMIT %s FOR UPDATE SKIP LOCKED
), heads AS (
    DELETE FROM timelines_head AS head USING expired WHERE head.reader_id = expired.reader_id
), entries AS (
    DELETE FROM timelines_entry AS entry USING expired WHERE entry.reader_id = expired.reader_id
)
SELECT count(*) FROM expired
"""
FORGOTTEN_AT_ONCE = 10_000
FORGET = """
DELETE FROM timelines_head WHERE reader_id IN (SELECT reader_id FROM timelines_head LIMIT %s)
"""
log = structlog.get_logger()


def keep_timeline_rows(alias: str) -> None:
    """Drops the rows of a shard that no reader can read, with any TIMELINE_STORE.

    Cost: five short statements; at most EXPIRED_PER_RUN timelines are deleted.
    """
    today = datetime.now(UTC).date()
    keep_weeks(alias, today)
    delete_expired(alias)


def keep_weeks(alias: str, today: date) -> list[str]:
    """Creates the partitions of this week and the next two, and drops expired ones; returns the
    names of those dropped.

    Safety: any number may run at once, be killed anywhere, or pause for weeks. Raises:
    OperationalError when readers keep the table busy; the next run does the rest.
    """
    PARTITIONS.make(alias, [week_of(today) + ahead * WEEK for ahead in range(3)])
    return PARTITIONS.drop_before(alias, _oldest_week(today, settings.TIMELINE_COLD_DAYS) - WEEK)


def delete_expired(alias: str, limit: int = EXPIRED_PER_RUN) -> int:
    """Deletes timelines that are neither read nor pushed to; returns how many, at most `limit`.

    Safety: any number may run at once; a timeline that is being rebuilt is left. One statement.
    """
    is_tiered = settings.TIMELINE_STORE == "tiered"
    live_days = settings.TIMELINE_COLD_DAYS if is_tiered else settings.TIMELINE_LIVE_DAYS
    sql = DELETE_EXPIRED.format(owned=owned_condition(alias, "reader_id"))
    row = fetch_one(alias, sql, (live_days + EXPIRED_AFTER.days, limit))
    return int(row[0])  # type: ignore[index]  # an aggregate


def oldest_second_read(today: date, kept_days: int) -> int:
    """The second from which on rows are read. One more week is kept, so that a process that read
    the low-water mark just before midnight still finds the rows."""
    return max(0, first_second(_oldest_week(today, kept_days)))


def week_of(day: date) -> date:
    """The Monday of the week."""
    return day - timedelta(days=day.weekday())


def _oldest_week(today: date, kept_days: int) -> date:
    """The first whole week within the last `kept_days` days."""
    return week_of(today - timedelta(days=kept_days))


def forget_timelines(alias: str) -> None:
    """Ends all stored timelines of a shard; readers build them again.

    For data that was restored to an earlier moment. Safety: idempotent. Cost: one statement for
    FORGOTTEN_AT_ONCE timelines.
    """
    while execute(alias, FORGET, (FORGOTTEN_AT_ONCE,)):
        pass
