"""The periodic tasks of changes, and the upkeep of the daily partitions of delivered changes."""

from datetime import date, timedelta

from django.conf import settings

from infra.changes.failures import retry_future
from infra.changes.lag import report_lag
from infra.jobs.periodic import PeriodicTask
from infra.sharding.partitions import DailyPartitions
from infra.sharding.placement import Placement

DAYS_AHEAD = 3
PARTITIONS = DailyPartitions("changes_delivered", "delivered_on", lambda day: day)


def maintain_partitions(alias: str, today: date) -> list[str]:
    """Creates the partitions of the coming days and drops expired ones; returns the names dropped.

    Safety: any number may run at once, and hang for days. Raises: OperationalError when the drain
    keeps the table locked; the next run tries again.
    """
    PARTITIONS.make(alias, [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD)])
    return PARTITIONS.drop_before(alias, today - timedelta(days=settings.CHANGE_REPLAY_DAYS))


PERIODIC_TASKS = (
    PeriodicTask(
        "report_lag",
        5,
        Placement.EVERYWHERE,
        "two queries of undelivered rows, one round trip to Redis",
        (
            "Writes to Redis how many changes wait in each lane, for the operators' pages and "
            "`show_status`."
        ),
        report_lag,
    ),
    PeriodicTask(
        "retry_future_changes",
        30,
        Placement.EVERYWHERE,
        "one statement that reads the undelivered rows",
        (
            "Makes changes due that wait for a time which no pause explains: the clock of the "
            "database went back."
        ),
        retry_future,
    ),
)
