"""Keeps the index to its days: makes the coming days' partitions, drops those nobody reads."""

from datetime import UTC, date, datetime

import structlog

from infra.changes.chores import chore
from timelines.recent.days import PARTITIONS, coming_days, first_second, oldest_kept, oldest_read
from timelines.recent.low_water_mark import raise_low_water_mark

EVERY_S = 600
log = structlog.get_logger()


@chore(every_s=EVERY_S)
def keep_recent_days(alias: str) -> None:
    """Keeps a shard's index to its days. Cost: five short statements."""
    keep_days(alias, datetime.now(UTC).date())


def keep_days(alias: str, today: date) -> list[str]:
    """Raises the mark, then drops what lies below it; returns the names of what was dropped.

    Safety: any number may run at once, be killed anywhere, and sleep for days. Raises:
    OperationalError when readers keep the table busy; the next run does it.
    """
    PARTITIONS.make(alias, coming_days(today))
    raise_low_water_mark(alias, first_second(oldest_read(today)))
    return PARTITIONS.drop_before(alias, oldest_kept(today))
