"""The weeks of timelines_entry: made ahead, dropped when they are older than any tier keeps."""

from datetime import UTC, date, datetime, timedelta

import structlog
from django.conf import settings

from infra.changes.chores import chore
from infra.sharding.partitions import DailyPartitions
from infra.sharding.sql import fetch_one
from timelines.recent.days import first_second

EVERY_S = 600
WEEK = timedelta(days=7)
PARTITIONS = DailyPartitions("timelines_entry", "second", first_second, WEEK.days)
# Longer than any head is pushed to (postgres.py).
EXPIRED_AFTER = timedelta(days=3)
EXPIRED_PER_RUN = 500
DELETE_EXPIRED = """
WITH dead AS (
    SELECT reader_id FROM timelines_head WHERE read_at < now() - %s * interval '1 day'
    ORDER BY read_at LIMIT %s FOR UPDATE SKIP LOCKED
), heads AS (
    DELETE FROM timelines_head AS head USING dead WHERE head.reader_id = dead.reader_id
), entries AS (
    DELETE FROM timelines_entry AS entry USING dead WHERE entry.reader_id = dead.reader_id
)
SELECT count(*) FROM dead
"""
log = structlog.get_logger()


@chore(every_s=EVERY_S)
def keep_timeline_rows(alias: str) -> None:
    """Keeps a shard's rows to those somebody may read; also after another store was chosen.

    Cost: five short statements, and DEAD_A_TURN timelines deleted at most.
    """
    today = datetime.now(UTC).date()
    keep_weeks(alias, today)
    delete_expired(alias)


def keep_weeks(alias: str, today: date) -> list[str]:
    """Makes this week's partition and the next two, drops expired ones; returns their names.

    Safety: any number may run at once, be killed anywhere, and sleep for weeks. Raises:
    OperationalError when readers keep the table busy; the next run does it.
    """
    PARTITIONS.make(alias, [week_of(today) + ahead * WEEK for ahead in range(3)])
    return PARTITIONS.drop_before(alias, _oldest_week(today, settings.TIMELINE_COLD_DAYS) - WEEK)


def delete_expired(alias: str, limit: int = EXPIRED_PER_RUN) -> int:
    """Deletes timelines nobody reads nor pushes to any more, at most so many; returns how many.

    Safety: any number may run at once; one that is built anew meanwhile is left. One statement.
    """
    is_tiered = settings.TIMELINE_STORE == "tiered"
    live_days = settings.TIMELINE_COLD_DAYS if is_tiered else settings.TIMELINE_LIVE_DAYS
    row = fetch_one(alias, DELETE_EXPIRED, (live_days + EXPIRED_AFTER.days, limit))
    return int(row[0])  # type: ignore[index]  # an aggregate


def oldest_second_read(today: date, kept_days: int) -> int:
    """From which second on rows are there. A week more is kept than is read: whoever saw the mark
    a moment before midnight finds the rows it promises."""
    return max(0, first_second(_oldest_week(today, kept_days)))


def week_of(day: date) -> date:
    """Its Monday."""
    return day - timedelta(days=day.weekday())


def _oldest_week(today: date, kept_days: int) -> date:
    """The first of the weeks that are whole within so many days."""
    return week_of(today - timedelta(days=kept_days))
