"""Hands a batch of change rows to their consumers and finds out which rows fail."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from infra.changes.registry import Delivery, consumers_of, read_payload, registered_consumers


class Row(NamedTuple):
    """A row of the change table as the drain reads it. `payload`: JSON text."""

    id: int
    kind: str
    owner_id: int
    payload: str
    created_at: datetime
    attempts: int


class Failure(NamedTuple):
    row: Row
    error: Exception


def deliver(alias: str, rows: Sequence[Row]) -> list[Failure]:
    """Runs every consumer over the rows; returns those that some consumer could not take.

    When a batch fails it is halved until the failing rows stand alone, so that one bad row holds
    up nobody. Cost of F failing rows among N: about F × log2 N extra runs of the consumers.
    """
    try:
        _run_consumers(alias, rows)
    except Exception as error:  # whatever a consumer raises is recorded with its row
        if len(rows) == 1:
            return [Failure(rows[0], error)]
        middle = len(rows) // 2
        return deliver(alias, rows[:middle]) + deliver(alias, rows[middle:])
    return []


def _run_consumers(alias: str, rows: Sequence[Row]) -> None:
    deliveries = [
        (row.kind, Delivery(row.id, row.owner_id, row.created_at, read_payload(row.kind, row.payload)))
        for row in rows
    ]
    for consumer in registered_consumers():
        mine = [delivery for kind, delivery in deliveries if consumer in consumers_of(kind)]
        if mine:
            consumer(alias, mine)
