"""The periodic tasks of moderation: samples for /metrics, and the purge of suspended accounts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings

from infra.jobs.periodic import PeriodicTask
from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from moderation.actions.timed_restrictions import end_due_restrictions
from moderation.jobs.purge_accounts import purge_accounts
from moderation.sampling import sample_decisions, sample_queue
from moderation.types import DecisionOrigin

# Small, because a row costs five or ten statements.
BATCH_SIZE = 20


def _purge(work: Work) -> Iterator[Batch]:
    now = datetime.now(UTC)
    before = now - timedelta(days=settings.SUSPENSION_DAYS)
    return purge_accounts(work, before, DecisionOrigin(None, "accounts purge"), now)


# An account whose suspension became old enough does not wait a day.
PURGE = SlicedJob(
    "accounts purge",
    "Deletes what is left of accounts that were suspended long ago.",
    _purge,
    BATCH_SIZE,
    every=timedelta(hours=1),
)

COST_OF_ENDS = (
    "one query by index; about ten statements for 100 restrictions that end, two on each shard;"
    " two seconds at most"
)


def _end_due(_alias: str) -> int:
    return end_due_restrictions(datetime.now(UTC))


PERIODIC_TASKS = (
    PeriodicTask(
        "end_restrictions",
        5,
        Placement.GLOBAL,
        COST_OF_ENDS,
        "Ends limits, freezes and suspensions whose [time is over](../how-to/moderate.md).",
        _end_due,
    ),
    PURGE.as_periodic_task(),
    PeriodicTask(
        "sample_queue",
        30,
        Placement.GLOBAL,
        "three queries by index, one round trip to Redis",
        "Counts open reports, pending appeals and restricted accounts, for `/metrics`.",
        sample_queue,
    ),
    PeriodicTask(
        "sample_decisions",
        30,
        Placement.GLOBAL,
        "one query of the last hour's decisions, two round trips to Redis",
        "Counts the decisions of moderators by type, for `/metrics`.",
        sample_decisions,
    ),
)
