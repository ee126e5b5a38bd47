"""The owner's lock. Each action takes it first, so that the changes of one owner have one order."""

from collections.abc import Sequence

from django.db import connections

from accounts.errors import AccountNotFound
from infra.changes.errors import NotInTransaction
from infra.sharding.sql import fetch_all

# NO KEY: statements that insert foreign keys to the row do not wait.
LOCK = """
SELECT 1 FROM accounts_account WHERE id = ANY(%s::bigint[]) ORDER BY id FOR NO KEY UPDATE
"""


def lock_account(alias: str, account_id: int) -> None:
    """Locks the account's row until the caller's transaction on its shard `alias` ends.

    Raises: AccountNotFound, NotInTransaction. Cost: one statement.
    """
    if not _lock(alias, [account_id]):
        raise AccountNotFound


def lock_accounts(alias: str, account_ids: Sequence[int]) -> None:
    """Locks several accounts of one shard in id order, so that two callers cannot deadlock.

    Skips accounts that do not exist. Raises: NotInTransaction. Cost: one statement.
    """
    _lock(alias, account_ids)


def _lock(alias: str, account_ids: Sequence[int]) -> int:
    if not connections[alias].in_atomic_block:
        raise NotInTransaction(f"a lock on {alias} needs a transaction to hold it")
    return len(fetch_all(alias, LOCK, (list(account_ids),)))
