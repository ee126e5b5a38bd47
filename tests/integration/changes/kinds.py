"""Kinds of changes that only tests emit, and a consumer that writes down what it is handed."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from django.db import transaction

from infra.changes.append import append_change
from infra.changes.lanes import LaneGroup
from infra.changes.registry import Delivery, FollowUp, Payload, consumes
from infra.sharding.sql import execute, fetch_all

ALIAS, OWNER, OTHER_OWNER = "shard0", 2, 3
LANE, OTHER_LANE = 1, 0
BULK_LANE = 65
FOLDED_LANE = 192
OUTSIDE_LANE = 224


class Noted(Payload, frozen=True):
    kind: ClassVar[str] = "tests.noted"

    number: int = 0


class NotedInline(Payload, frozen=True):
    kind: ClassVar[str] = "tests.noted_inline"


class NotedOnce(Payload, frozen=True):
    """The request and the drain write it down; the drain only if the request did not."""

    kind: ClassVar[str] = "tests.noted_once"

    number: int = 0


class BulkNoted(Payload, frozen=True):
    kind: ClassVar[str] = "tests.bulk_noted"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK


class FoldedNoted(Payload, frozen=True):
    kind: ClassVar[str] = "tests.folded_noted"
    lanes: ClassVar[LaneGroup] = LaneGroup.FOLDED

    number: int = 0


class Asked(Payload, frozen=True):
    """A follow-up change that the `ask` of the journal returns."""

    kind: ClassVar[str] = "tests.asked"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    number: int = 0


class Journal:
    """`heard`: versions by run of the consumer. `act`: what the consumer does first."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.heard: list[list[int]] = []
        self.deliveries: list[Delivery[Any]] = []
        self.act: Callable[[Sequence[Delivery[Any]]], Any] = lambda deliveries: None
        self.ask: Callable[[Sequence[Delivery[Any]]], list[FollowUp]] = lambda deliveries: []

    def write(self, deliveries: Sequence[Delivery[Any]]) -> None:
        self.act(deliveries)
        self.heard.append([delivery.version for delivery in deliveries])
        self.deliveries += deliveries

    @property
    def versions(self) -> list[int]:
        return [version for run in self.heard for version in run]

    def fail_for(self, *versions: int, error: Exception | None = None) -> None:
        """The consumer refuses to take these."""

        def act(deliveries: Sequence[Delivery[Any]]) -> None:
            if {delivery.version for delivery in deliveries} & set(versions):
                raise error or ValueError("no such number")

        self.act = act


journal = Journal()


@consumes(Noted, BulkNoted, FoldedNoted, Asked)
def write_down(alias: str, deliveries: Sequence[Delivery[Any]]) -> list[FollowUp]:
    journal.write(deliveries)
    return journal.ask(deliveries)


@consumes(NotedInline, inline=True)
def write_down_inline(alias: str, deliveries: Sequence[Delivery[Any]]) -> None:
    journal.write(deliveries)


@consumes(NotedOnce, inline=True, once=True)
def write_down_once(alias: str, deliveries: Sequence[Delivery[Any]]) -> None:
    journal.write(deliveries)


def emit(*payloads: Payload, alias: str = ALIAS, owner_id: int = OWNER) -> list[int]:
    """Appends changes in one transaction; returns their versions."""
    with transaction.atomic(using=alias):
        return [append_change(alias, owner_id, payload) for payload in payloads]


def note(count: int = 1, **options: Any) -> list[int]:
    return emit(*(Noted(number) for number in range(count)), **options)


def pending(alias: str = ALIAS) -> list[int]:
    return column(alias, "SELECT id FROM changes_change WHERE state = 0 ORDER BY id")


def parked(alias: str = ALIAS) -> list[int]:
    return column(alias, "SELECT id FROM changes_change WHERE state = 1 ORDER BY id")


def delivered(alias: str = ALIAS) -> list[int]:
    return column(alias, "SELECT id FROM changes_delivered ORDER BY id")


def column(alias: str, sql: str) -> list[Any]:
    return [row[0] for row in fetch_all(alias, sql)]


def let_wait_pass(alias: str = ALIAS) -> None:
    """As if the back-off of every row were over."""
    execute(alias, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")


def let_lease_expire(alias: str = ALIAS) -> None:
    execute(alias, "UPDATE changes_drainlease SET expires_at = clock_timestamp() - interval '1 s'")
