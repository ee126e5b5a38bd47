"""The days of the recent-posts index: which are kept, and from when on it may be read."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings

from infra.sharding.partitions import DailyPartitions
from posts.ids import EPOCH, SEQUENCES

DAYS_AHEAD = 3


def first_second(day: date) -> int:
    """Seconds since the product's epoch when the day begins, UTC."""
    return int(datetime.combine(day, time(), UTC).timestamp()) - EPOCH


def first_moment(day: date) -> int:
    return first_second(day) * SEQUENCES


PARTITIONS = DailyPartitions("timelines_recentpost", "moment", first_moment)


def oldest_read(today: date) -> date:
    """The first of RECENT_DAYS whole days before today: complete_from is not below it."""
    return today - timedelta(days=settings.RECENT_DAYS)


def oldest_kept(today: date) -> date:
    """A day more than is read.

    Whoever saw the mark, or set it, a moment before midnight finds the rows it promises.
    """
    return oldest_read(today) - timedelta(days=1)


def coming_days(today: date) -> list[date]:
    return [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD)]


def kept_days(today: date) -> Iterator[date]:
    """From the oldest kept to the last of the coming ones."""
    day, last = oldest_kept(today), coming_days(today)[-1]
    while day <= last:
        yield day
        day += timedelta(days=1)
