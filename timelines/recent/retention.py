"""Keeps the index to its days: makes the coming days' partitions, drops those nobody reads."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import structlog

from infra.changes.chores import chore
from infra.changes.errors import UNREACHABLE
from infra.sharding.placement import Placement, is_allowed
from timelines.recent.days import PARTITIONS, coming_days, first_second, oldest_kept, oldest_read
from timelines.recent.reach import raise_reach

EVERY_S = 600
log = structlog.get_logger()


@chore(every_s=EVERY_S)
def keep_recent_days(aliases: Sequence[str]) -> None:
    """Keeps each shard's index to its days; one out of reach keeps no other from its turn.

    Cost: five short statements a shard.
    """
    today = datetime.now(UTC).date()
    for alias in aliases:
        if is_allowed(Placement.REPLICATED, alias):
            try:
                keep_days(alias, today)
            except UNREACHABLE as error:
                log.warning("recent_posts.days_not_kept", alias=alias, error=str(error))


def keep_days(alias: str, today: date) -> list[str]:
    """Raises the mark, then drops what lies below it; returns the names of what was dropped.

    Safety: any number may run at once, be killed anywhere, and sleep for days. Raises:
    OperationalError when readers keep the table busy; the next run does it.
    """
    PARTITIONS.make(alias, coming_days(today))
    raise_reach(alias, first_second(oldest_read(today)))
    return PARTITIONS.drop_before(alias, oldest_kept(today))
