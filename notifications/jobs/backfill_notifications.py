"""Finds notifications that are missing, and adds them: the jobs behind two commands."""

from collections.abc import Iterator

from accounts.sql import ACCOUNTS
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from notifications.actions.backfill import backfill_on_shard
from notifications.queries.missing import find_missing

BATCH_SIZE = 100


def backfill_notifications(work: Work, now_ms: int) -> Iterator[Batch]:
    """Adds what the accounts lack of their newest followers, requests and responses.

    Safety: idempotent, and correct while writes go on. Cost: five queries a batch of accounts, and
    a transaction if something is missing.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        found = find_missing(alias, [account_id for (account_id,) in rows], now_ms)
        changed = sum(map(len, found.values()))
        if not work.dry_run:
            changed = backfill_on_shard(alias, found)
        failpoint("notifications.backfilled")
        yield Batch(len(rows), 0, alias, changed, position)


def audit_notifications(work: Work, before_ms: int, now_ms: int) -> Iterator[Batch]:
    """Names accounts that lack notifications of what happened before `before_ms`.

    Each of them counts as failed. Later events may still be under way. Cost: five queries a batch.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        found = find_missing(alias, [account_id for (account_id,) in rows], now_ms)
        lacking = {
            owner_id: sum(one.at_ms < before_ms for one in occurrences)
            for owner_id, occurrences in found.items()
        }
        lines = [
            f"account {owner_id}: {count} missing" for owner_id, count in lacking.items() if count
        ]
        yield Batch(len(rows) - len(lines), len(lines), alias, None, position, lines)
