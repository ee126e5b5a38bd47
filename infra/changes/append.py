"""How a change is written: in the transaction it reports, then a bell after the commit."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import structlog
from django.db import connections, transaction

from infra.changes.causes import with_causes
from infra.changes.errors import UNREACHABLE, NotInTransaction
from infra.changes.lanes import lane_of
from infra.changes.registry import Delivery, FollowUp, Payload, inline_consumers_of
from infra.changes.wake_up import wake
from infra.sharding.sql import fetch_one
from infra.telemetry.request_ids import get_request_ids

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
    lane, delivery = _insert(alias, owner_id, payload, get_request_ids())
    transaction.on_commit(lambda: _run_inline(alias, lane, delivery), using=alias)
    return delivery.version


def append_follow_ups(alias: str, follow_ups: Sequence[FollowUp], drained_lane: int | None) -> None:
    """Adds what consumers asked for, in the transaction that files what they were handed.

    The bell is rung for each of their lanes; not for `drained_lane`, whose drainer goes on anyway.
    Cost: one round trip each.
    """
    lanes = {_insert(alias, one.owner_id, one.payload, one.requests)[0] for one in follow_ups}
    for lane in lanes - {drained_lane}:
        transaction.on_commit(partial(wake, alias, lane), using=alias)


def _insert(
    alias: str, owner_id: int, payload: Payload, requests: Sequence[str]
) -> tuple[int, Delivery[Payload]]:
    lane = lane_of(owner_id, payload.lanes)
    body = with_causes(msgspec.json.encode(payload), requests)
    row = fetch_one(alias, INSERT, (lane, payload.kind, owner_id, body))
    assert row is not None  # noqa: S101 - INSERT … RETURNING has one row
    return lane, Delivery(row[0], owner_id, row[1], payload, requests)


def _run_inline(alias: str, lane: int, delivery: Delivery[Payload]) -> None:
    """The commit stands whatever happens here, even a bug; what fails is done by the drain."""
    kind = delivery.payload.kind
    calls: list[Callable[[], object]] = [partial(wake, alias, lane)]
    calls += [partial(consumer, alias, [delivery]) for consumer in inline_consumers_of(kind)]
    for call in calls:
        try:
            call()
        except Exception as error:
            trace = not isinstance(error, UNREACHABLE)
            log.warning("change.inline_failed", kind=kind, error=str(error), exc_info=trace)
