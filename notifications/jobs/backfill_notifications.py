"""Finds notifications that are missing, and adds them."""

from collections.abc import Iterator

from accounts.sql import ACCOUNTS
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from notifications.actions.backfill import backfill_on_shard
from notifications.queries.missing_notifications import find_missing

BATCH_SIZE = 100


def backfill_notifications(work: Work, now_ms: int) -> Iterator[Batch]:
    """Adds what the accounts lack of their newest followers, requests and responses.

    Safety: idempotent, and correct while writes go on. Cost: five queries a batch of accounts, and
    a transaction if something is missing.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        missing = find_missing(alias, [account_id for (account_id,) in rows], now_ms)
        changed = sum(map(len, missing.values()))
        if not work.dry_run:
            changed = backfill_on_shard(alias, missing)
        failpoint("notifications.backfilled")
        yield Batch(len(rows), 0, alias, changed, position)
