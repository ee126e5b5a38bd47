"""How an action writes a change: in its own transaction, then a bell after the commit."""

import msgspec
from django.conf import settings
from django.db import connections, transaction

from infra.changes.bell import ring
from infra.changes.errors import NotInTransaction
from infra.changes.registry import Payload
from infra.sharding.sql import fetch_one

INSERT = """
INSERT INTO changes_change (lane, kind, owner_id, payload)
VALUES (%s, %s, %s, %s) RETURNING id
"""


def append_change(alias: str, owner_id: int, payload: Payload) -> int:
    """Adds a change row and returns its version.

    The caller holds the owner's row lock, so per owner versions grow in commit order.
    Raises: NotInTransaction. Cost: one round trip; the bell is rung after the commit.
    """
    if not connections[alias].in_atomic_block:
        raise NotInTransaction(f"{payload.kind} needs a transaction on {alias}")
    lane = lane_of(owner_id, payload.bulk)
    body = msgspec.json.encode(payload).decode()
    row = fetch_one(alias, INSERT, (lane, payload.kind, owner_id, body))
    assert row is not None  # noqa: S101 - INSERT … RETURNING has one row
    transaction.on_commit(lambda: ring(alias, lane), using=alias, robust=True)
    return int(row[0])


def lane_of(owner_id: int, bulk: bool) -> int:
    """One of CHANGE_LANES by owner; the lane after them carries bulk work."""
    return settings.CHANGE_LANES if bulk else owner_id % settings.CHANGE_LANES


def all_lanes() -> range:
    return range(settings.CHANGE_LANES + 1)
