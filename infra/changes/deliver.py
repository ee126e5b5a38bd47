"""Passes a batch of change rows to their consumers and finds the rows that fail."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from infra.caching.errors import REDIS_AWAY
from infra.changes.batch_rows import batch_rows
from infra.changes.causes import read_causes
from infra.changes.errors import WholeBatchFails
from infra.changes.failpoints import failpoint
from infra.changes.registry import (
    Delivery,
    FollowUp,
    Payload,
    consumers_of,
    name_of,
    read_payload,
    registered_consumers,
)
from infra.moving import choosing_shards
from infra.telemetry.reached_branches import reached
from infra.telemetry.request_ids import caused_by


class ChangeRow(NamedTuple):
    """A row of the change table. `payload`: JSON text. `is_paused`: whether its kind is paused.

    `lane` is not set for rows that are delivered again. `done`: names of consumers whose work the
    acting request has done.
    """

    id: int
    kind: str
    owner_id: int
    payload: str
    created_at: datetime
    attempts: int
    is_paused: bool = False
    lane: int = 0
    done: frozenset[str] = frozenset()


class Failure(NamedTuple):
    row: ChangeRow
    error: Exception


class Outcome(NamedTuple):
    """Rows that a consumer failed for, and the follow-up changes of the other rows."""

    failures: list[Failure]
    follow_ups: list[FollowUp]


def deliver(alias: str, rows: Sequence[ChangeRow]) -> Outcome:
    """Runs every consumer over the rows.

    A batch that fails is halved until each failing row is alone. So one bad row, or one shard that
    is down, does not delay the other rows. A batch is not halved when Redis is away or a consumer
    raises WholeBatchFails, because every half would fail too.
    Cost of F failing rows among N: about F * log2 N extra runs of the consumers.
    """
    try:
        return Outcome([], _run_consumers(alias, rows))
    except Exception as error:  # any error of a consumer is recorded with its row
        if len(rows) == 1 or isinstance(error, (*REDIS_AWAY, WholeBatchFails)):
            return Outcome([Failure(row, error) for row in rows], [])
    reached("deliver.batch_halved")
    middle = len(rows) // 2
    first, second = deliver(alias, rows[:middle]), deliver(alias, rows[middle:])
    return Outcome(first.failures + second.failures, first.follow_ups + second.follow_ups)


def _run_consumers(alias: str, rows: Sequence[ChangeRow]) -> list[FollowUp]:
    """Runs every consumer, also after an error of another: with Redis away the rows of the other
    shard are still written. Raises the first error; then all consumers run again later."""
    deliveries = [_read(row) for row in rows]
    causes = [request for delivery in deliveries for request in delivery.requests]
    with caused_by(causes), batch_rows(), choosing_shards():
        return _call_consumers(alias, deliveries)


def _call_consumers(alias: str, deliveries: Sequence[Delivery[Payload]]) -> list[FollowUp]:
    errors: list[Exception] = []
    follow_ups: list[FollowUp] = []
    for consumer in registered_consumers():
        name = name_of(consumer)
        mine = [
            delivery
            for delivery in deliveries
            if consumer in consumers_of(delivery.payload.kind) and name not in delivery.done
        ]
        try:
            if mine:
                follow_ups += [
                    _with_causes(follow_up, mine) for follow_up in consumer(alias, mine) or ()
                ]
                failpoint("deliver.after_consumer")
        except Exception as error:  # deliver() finds the rows that cause it
            errors.append(error)
    if errors:
        raise errors[0]
    return follow_ups


def _with_causes(follow_up: FollowUp, mine: Sequence[Delivery[Payload]]) -> FollowUp:
    requests = [
        cause
        for delivery in mine
        if delivery.owner_id == follow_up.owner_id
        for cause in delivery.requests
    ]
    return structs.replace(follow_up, requests=requests) if requests else follow_up


def _read(row: ChangeRow) -> Delivery[Payload]:
    payload, causes = read_payload(row.kind, row.payload), read_causes(row.payload)
    return Delivery(row.id, row.owner_id, row.created_at, payload, causes, done=row.done)
