"""The days of the recent-posts index: one partition each, created ahead and dropped when old."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings

from infra.sharding.partitions import DailyPartitions
from posts.ids import EPOCH, SEQUENCES
from timelines.recent.low_water_mark import raise_low_water_mark

DAYS_AHEAD = 3


def first_second(day: date) -> int:
    """The second when the day begins (UTC), counted from the product's epoch."""
    return int(datetime.combine(day, time(), UTC).timestamp()) - EPOCH


def first_moment(day: date) -> int:
    return first_second(day) * SEQUENCES


PARTITIONS = DailyPartitions("timelines_recentpost", "moment", first_moment)


def keep_recent_days(alias: str) -> None:
    """Creates and drops partitions of a shard's index. Cost: five short statements."""
    drop_old_days(alias, datetime.now(UTC).date())


def drop_old_days(alias: str, today: date) -> list[str]:
    """Raises the low-water mark, then drops the days below it; returns the partitions dropped.

    Safety: any number may run at once, be killed anywhere, or pause for days. Raises:
    OperationalError when readers keep the table busy; the next run does the rest.
    """
    PARTITIONS.make(alias, coming_days(today))
    raise_low_water_mark(alias, first_second(oldest_read(today)))
    return PARTITIONS.drop_before(alias, oldest_kept(today))


def oldest_read(today: date) -> date:
    """The first of RECENT_DAYS whole days before today. The low-water mark is not below it."""
    return today - timedelta(days=settings.RECENT_DAYS)


def oldest_kept(today: date) -> date:
    """One day before the oldest that is read.

    A process that read or set the mark just before midnight still finds the rows of that day.
    """
    return oldest_read(today) - timedelta(days=1)


def coming_days(today: date) -> list[date]:
    return [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD)]


def kept_days(today: date) -> Iterator[date]:
    """From the oldest kept day to the last of the coming days."""
    day, last = oldest_kept(today), coming_days(today)[-1]
    while day <= last:
        yield day
        day += timedelta(days=1)
