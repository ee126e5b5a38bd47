"""What is left of accounts that were suspended long ago goes by itself, a little at a time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings

from infra.changes.chores import chore
from infra.jobs.time_slices import EVERY_S, SlicedJob, run_time_slice
from infra.jobs.types import Batch, Work
from moderation.jobs.purge_accounts import purge_accounts
from moderation.types import DecisionOrigin

# A row is five statements, or ten.
BATCH_SIZE = 20


@chore(every_s=EVERY_S)
def purge_accounts_in_turns(alias: str) -> None:
    """What `purge_accounts` does. Cost: `take_turn`."""
    run_time_slice(ROUNDS, alias, datetime.now(UTC))


def _purge(work: Work) -> Iterator[Batch]:
    now = datetime.now(UTC)
    before = now - timedelta(days=settings.SUSPENSION_DAYS)
    return purge_accounts(work, before, DecisionOrigin(None, "purge_accounts"), now)


# Whoever was suspended for long enough an hour ago waits no day.
ROUNDS = SlicedJob("purge_accounts", _purge, BATCH_SIZE, every=timedelta(hours=1))
