"""Daily partitions of delivered changes: made ahead, dropped after the replay window."""

from datetime import date, timedelta

from django.conf import settings

from infra.sharding.partitions import DailyPartitions

DAYS_AHEAD = 3
PARTITIONS = DailyPartitions("changes_delivered", "delivered_on", lambda day: day)


def maintain_partitions(alias: str, today: date) -> list[str]:
    """Makes the coming days' partitions and drops expired ones; returns the names dropped.

    Safety: any number may run at once, and sleep for days. Raises: OperationalError when the drain
    keeps the table busy; the next run does it.
    """
    PARTITIONS.make(alias, [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD)])
    return PARTITIONS.drop_before(alias, today - timedelta(days=settings.CHANGE_REPLAY_DAYS))
