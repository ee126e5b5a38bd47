"""Announces accounts whose rows another program wrote."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.actions.lock_account import lock_accounts
from accounts.changes import ProfileChanged
from infra.changes.append import append_changes
from infra.jobs.announce import AnnouncedRows, number_in
from infra.jobs.walk import Table
from infra.sharding.sql import fetch_all

TABLE = Table("accounts_account", ("id",), ("created_at",))
# A key without a row has no moment.
FIND = """
SELECT id, created_at FROM unnest(%s::bigint[]) AS wanted (id) LEFT JOIN accounts_account USING (id)
"""
# A cached profile gives way to a higher version only.
RENEW = (
    "UPDATE accounts_account SET version = version + 1 WHERE id = ANY(%s::bigint[]) RETURNING id"
)


def announce(alias: str, rows: Sequence[Any]) -> list[str]:
    """One transaction for all. Three statements."""
    ids = [account_id for account_id, *_ in rows]
    with transaction.atomic(using=alias):
        lock_accounts(alias, ids)
        renewed = [account_id for (account_id,) in fetch_all(alias, RENEW, (ids,))]
        if renewed:
            append_changes(alias, [(account_id, ProfileChanged()) for account_id in renewed])
    missing = [account_id for account_id in ids if account_id not in {*renewed}]
    return [f"account {account_id}: there is no such row" for account_id in missing]


def _find(alias: str, keys: Sequence[Sequence[int]]) -> list[tuple[Any, ...]]:
    return fetch_all(alias, FIND, ([account_id for (account_id,) in keys],))


def _moments(row: Sequence[Any]) -> Sequence[datetime | None]:
    return [row[1]]


ACCOUNTS = AnnouncedRows(
    TABLE,
    parse=lambda text: (number_in(text),),
    find=_find,
    moments=_moments,
    name=lambda row: f"account {row[0]}",
    announce=announce,
)
