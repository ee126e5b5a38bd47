"""How an action writes a change: in its own transaction, then a bell after the commit."""

from functools import partial

import msgspec
import structlog
from django.conf import settings
from django.db import connections, transaction

from infra.changes.bell import ring
from infra.changes.errors import UNREACHABLE, NotInTransaction
from infra.changes.registry import Delivery, Payload, at_once_consumers_of
from infra.sharding.sql import fetch_one

log = structlog.get_logger()

INSERT = """
INSERT INTO changes_change (lane, kind, owner_id, payload)
VALUES (%s, %s, %s, %s) RETURNING id, created_at
"""


def append_change(alias: str, owner_id: int, payload: Payload) -> int:
    """Adds a change row and returns its version.

    The caller holds the owner's row lock, so per owner versions grow in commit order.
    Raises: NotInTransaction. Cost: one round trip; after the commit the bell is rung and the
    consumers that serve the actor at once are run.
    """
    if not connections[alias].in_atomic_block:
        raise NotInTransaction(f"{payload.kind} needs a transaction on {alias}")
    lane = lane_of(owner_id, payload.bulk)
    body = msgspec.json.encode(payload).decode()
    row = fetch_one(alias, INSERT, (lane, payload.kind, owner_id, body))
    assert row is not None  # noqa: S101 - INSERT … RETURNING has one row
    delivery = Delivery(row[0], owner_id, row[1], payload)
    transaction.on_commit(lambda: _serve_at_once(alias, lane, delivery), using=alias)
    return delivery.version


def _serve_at_once(alias: str, lane: int, delivery: Delivery[Payload]) -> None:
    """The commit stands whatever happens here, even a bug; what fails is done by the drain."""
    kind = delivery.payload.kind
    calls = [partial(ring, alias, lane)]
    calls += [partial(consumer, alias, [delivery]) for consumer in at_once_consumers_of(kind)]
    for call in calls:
        try:
            call()
        except Exception as error:
            trace = not isinstance(error, UNREACHABLE)
            log.warning("change.not_at_once", kind=kind, error=str(error), exc_info=trace)


def lane_of(owner_id: int, bulk: bool) -> int:
    """One of CHANGE_LANES by owner; the lane after them carries bulk work."""
    return settings.CHANGE_LANES if bulk else owner_id % settings.CHANGE_LANES


def all_lanes() -> range:
    return range(settings.CHANGE_LANES + 1)
