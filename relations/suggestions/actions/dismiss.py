"""Dismisses a suggestion: one transaction on the shard of the account that dismisses."""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

MOST_DISMISSED = 1_000
INSERT = """
INSERT INTO suggestions_dismissedsuggestion (owner_id, account_id, since_ms) VALUES (%s, %s, %s)
ON CONFLICT (owner_id, account_id) DO UPDATE SET since_ms = excluded.since_ms
"""
# The oldest ones beyond the limit.
CUT = """
DELETE FROM suggestions_dismissedsuggestion WHERE owner_id = %(owner)s AND since_ms < (
    SELECT min(since_ms) FROM (
        SELECT since_ms FROM suggestions_dismissedsuggestion WHERE owner_id = %(owner)s
        ORDER BY since_ms DESC LIMIT %(most)s
    ) AS newest)
"""
DELETE = "DELETE FROM suggestions_dismissedsuggestion WHERE owner_id = %s AND account_id = %s"


def dismiss_suggestion(
    owner_id: int, account_id: int, clock_ms: Callable[[], int] = now_ms
) -> None:
    """Suggests the account to the owner no more, unless MOST_DISMISSED others are dismissed later.

    Nothing is derived from the row, so there is no change. Raises: AccountNotFound for the owner.
    Safety: idempotent. Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        execute(alias, INSERT, (owner_id, account_id, clock_ms()))
        execute(alias, CUT, {"owner": owner_id, "most": MOST_DISMISSED})


def forget_dismissed(owner_id: int, account_id: int) -> None:
    """Deletes the row, so that the account may be suggested again. Safety: idempotent."""
    execute(shard_of(owner_id), DELETE, (owner_id, account_id))
