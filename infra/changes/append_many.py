"""Writes many changes of one kind in one statement: for writes of many accounts together."""

from collections.abc import Sequence
from functools import partial

from django.db import connections, transaction

from infra.changes.append import change_columns, run_inline
from infra.changes.errors import NotInTransaction
from infra.changes.registry import Delivery, Payload
from infra.sharding.sql import fetch_all

INSERT = """
INSERT INTO changes_change (lane, kind, owner_id, payload)
SELECT * FROM unnest(%s::smallint[], %s::text[], %s::bigint[], %s::jsonb[])
RETURNING id, owner_id, created_at
"""


def append_changes(alias: str, payloads: Sequence[tuple[int, Payload]]) -> None:
    """Adds a change row for each owner; an owner comes once. After the commit as `append_change`.

    The caller holds the row locks of the owners. Raises: NotInTransaction. Cost: one round trip,
    none without payloads.
    """
    if not connections[alias].in_atomic_block:
        raise NotInTransaction(f"changes need a transaction on {alias}")
    if not payloads:
        return
    columns = [change_columns(owner_id, payload) for owner_id, payload in payloads]
    lanes, kinds, bodies = (list(column) for column in zip(*columns, strict=True))
    rows = fetch_all(alias, INSERT, (lanes, kinds, [owner for owner, _ in payloads], bodies))
    by_owner = dict(payloads)
    deliveries = [Delivery(row[0], row[1], row[2], by_owner[row[1]]) for row in rows]
    transaction.on_commit(partial(run_inline, alias, deliveries), using=alias)
