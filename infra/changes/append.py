"""Writes a change in the transaction that it reports, and wakes a drainer after the commit.

A write whose rows, count and change are one function of the database takes the change from
`change_columns`, and calls `announce` when the function has returned.

Writes many changes of one kind in one statement: for writes of many accounts together.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec
import structlog
from django.db import connections, transaction
from msgspec import structs
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.errors import REDIS_AWAY
from infra.caching.questions import Question
from infra.caching.round_trips import one_round_trip, run_together
from infra.changes.batch_rows import batch_rows
from infra.changes.causes import with_causes
from infra.changes.done_inline import DoneConsumers, note_commands
from infra.changes.errors import UNREACHABLE, NotInTransaction, UnknownKind
from infra.changes.failpoints import failpoint
from infra.changes.lanes import lane_of
from infra.changes.own_acts import note_commands as note_own_acts_commands
from infra.changes.registry import (
    Consumer,
    Delivery,
    FollowUp,
    Payload,
    inline_consumers_of,
    is_inline_consumer_of,
    read_payload,
    runs_once,
)
from infra.changes.wake_up import wake, wake_commands
from infra.moving import note_written
from infra.sharding.sql import fetch_all, fetch_one
from infra.telemetry.reached_branches import reached
from infra.telemetry.request_ids import get_request_ids

log = structlog.get_logger()

INSERT = """
INSERT INTO changes_change (lane, kind, owner_id, payload)
VALUES (%s, %s, %s, %s) RETURNING id, created_at
"""
# A repeated request comes soon, so its change is among the newest. If commits wait for a standby,
# an empty message in the log makes this one wait too, and so for the standby to have the write.
# The join keeps the row of the message: it is also written if nothing is pending.
RECENT = """
WITH replicated AS MATERIALIZED (
    SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
        THEN pg_logical_emit_message(true, 'tideline', '') END
)
SELECT id, kind, payload, created_at FROM replicated LEFT JOIN (
    SELECT * FROM (
        SELECT * FROM changes_change WHERE lane = %s AND state = 0 ORDER BY id DESC LIMIT 1000
    ) AS newest WHERE owner_id = %s
) AS pending ON true ORDER BY id
"""


def append_change(alias: str, owner_id: int, payload: Payload) -> int:
    """Adds a change row and returns its version.

    The caller holds the row lock of the owner, so the versions of one owner grow in commit order.
    After the commit a drainer is woken and the inline consumers run.
    Raises: NotInTransaction. Cost: one round trip.
    """
    if not connections[alias].in_atomic_block:
        raise NotInTransaction(f"{payload.kind} needs a transaction on {alias}")
    _, delivery = _insert(alias, owner_id, payload, get_request_ids())
    transaction.on_commit(lambda: run_inline(alias, [delivery]), using=alias)
    return delivery.version


class ChangeColumns(NamedTuple):
    """A change for the SQL function `changes_append`. `body`: the payload as JSON."""

    lane: int
    kind: str
    body: str


def change_columns(owner_id: int, payload: Payload) -> ChangeColumns:
    """A change that a function of the database writes together with the rows it reports."""
    body = with_causes(msgspec.json.encode(payload), get_request_ids())
    return ChangeColumns(lane_of(owner_id, payload.lanes), payload.kind, body)


class AppendedChange(NamedTuple):
    """A change that a function of the database has written. `version`, `at`: what it returned.

    `written`, `shown`: see Delivery. `asked`: shares the round trip of the inline consumers.
    """

    version: int
    at: datetime
    written: Any = None
    shown: int | None = None
    asked: Question[Any] | None = None


def announce(alias: str, owner_id: int, payload: Payload, change: AppendedChange) -> None:
    """Wakes a drainer and runs the inline consumers for a change that a function has written.

    Inside a transaction it waits for the commit.
    """
    version, at, written, shown, asked = change
    requests = get_request_ids()
    delivery = Delivery(version, owner_id, at, payload, requests, written, shown=shown)
    transaction.on_commit(lambda: run_inline(alias, [delivery], asked), using=alias)


def finish_interrupted(alias: str, owner_id: int) -> None:
    """Runs the inline consumers of the owner's pending changes.

    For a write that finds itself done: the process that did it may have died right after its
    commit, and the caches that answer the caller lack the write. So may a standby: this commit
    waits for it. Inside a transaction all waits for the commit. Cost: one query by index; nothing
    more once the drain has delivered the changes.
    Else each consumer runs once, for all of them; if it fails for one, the drain does its work.
    """
    rows = fetch_all(alias, RECENT, (lane_of(owner_id), owner_id))
    if rows[0][0] is None:
        return
    reached("changes.interrupted_finished")
    deliveries = [
        delivery for row in rows if (delivery := _read_pending(owner_id, *row)) is not None
    ]
    transaction.on_commit(partial(run_inline, alias, deliveries), using=alias)


def _read_pending(
    owner_id: int, version: int, kind: str, payload: str, created_at: datetime
) -> Delivery[Payload] | None:
    """None: another release wrote it. The drain parks it, and this write must not fail for it."""
    try:
        return Delivery(version, owner_id, created_at, read_payload(kind, payload))
    except (UnknownKind, msgspec.ValidationError) as error:
        log.warning("change.inline_failed", kind=kind, error=str(error))
        return None


def append_follow_ups(
    alias: str, follow_ups: Sequence[FollowUp], drained_lanes: Collection[int]
) -> set[int]:
    """Adds follow-up changes, in the transaction that files the deliveries that caused them.

    Returns their lanes. After the commit a drainer of each lane is woken. `drained_lanes` are left
    out, because their drainer is still running. Cost: one round trip each.
    """
    lanes = {
        _insert(alias, follow_up.owner_id, follow_up.payload, follow_up.requests)[0]
        for follow_up in follow_ups
    }
    asleep = lanes.difference(drained_lanes)
    if asleep:
        transaction.on_commit(partial(wake, alias, *asleep), using=alias)
    return lanes


def _insert(
    alias: str, owner_id: int, payload: Payload, requests: Sequence[str]
) -> tuple[int, Delivery[Payload]]:
    lane = lane_of(owner_id, payload.lanes)
    body = with_causes(msgspec.json.encode(payload), requests)
    row = fetch_one(alias, INSERT, (lane, payload.kind, owner_id, body))
    assert row is not None  # noqa: S101 - INSERT … RETURNING has one row
    return lane, Delivery(row[0], owner_id, row[1], payload, requests)


def run_inline(
    alias: str, deliveries: Sequence[Delivery[Payload]], asked: Question[Any] | None = None
) -> None:
    """The write is committed, so no error may reach the caller.

    What Redis did not get is sent when it answers again. The drain does what else failed, and what
    is not noted as done.
    """
    note_written()
    failpoint("changes.committed")
    consumers = inline_consumers_of({delivery.payload.kind for delivery in deliveries})
    done = DoneConsumers()
    with _logged(deliveries), batch_rows():
        _consume_or_keep(alias, consumers, deliveries, done, asked)
    failpoint("changes.consumed_inline")
    # The drain begins after all that: else both want the same rows, and the processors, at once.
    with _logged(deliveries):
        _wake_drainers(alias, {lane_of(d.owner_id, d.payload.lanes) for d in deliveries}, done)


def _wake_drainers(alias: str, lanes: Collection[int], done: DoneConsumers) -> None:
    """With the notes of what they need not do. One round trip."""
    try:
        redis().run([*note_commands(alias, done), *wake_commands(alias, lanes)])
    except RedisError:
        wake(alias, *lanes)


def _consume_or_keep(
    alias: str,
    consumers: Sequence[Consumer],
    deliveries: Sequence[Delivery[Payload]],
    done: DoneConsumers,
    asked: Question[Any] | None,
) -> None:
    try:
        done.add(_consume(alias, consumers, deliveries, asked))
    except REDIS_AWAY as error:
        reached("changes.kept_for_redis")
        log.warning("change.kept", kind=_kinds_of(deliveries), error=str(error))
        # Without what was just written: later it may be old, and the consumers read the rows.
        later = [structs.replace(delivery, written=None) for delivery in deliveries]
        redis().send_later(_consume, alias, tuple(consumers), items=later)


def _consume(
    alias: str,
    consumers: Sequence[Consumer],
    deliveries: Sequence[Delivery[Payload]],
    asked: Question[Any] | None = None,
) -> list[tuple[Consumer, Sequence[int]]]:
    """Notes the acts. Each consumer gets what is of its kinds, in one round trip for all.

    Returns the versions of the changes by the consumer that need not run for them any more. Raises:
    RedisError.
    """
    done: list[tuple[Consumer, Sequence[int]]] = []
    with one_round_trip():
        if asked is not None:
            run_together(asked.commands, partial(setattr, asked, "replies"))
        run_together(note_own_acts_commands(deliveries))
        for consumer in consumers:
            mine = [d for d in deliveries if is_inline_consumer_of(consumer, d.payload.kind)]
            with _logged(mine, but=REDIS_AWAY):
                consumer(alias, mine)
                if runs_once(consumer):
                    done.append((consumer, [d.version for d in mine]))
    return done


@contextmanager
def _logged(
    deliveries: Sequence[Delivery[Payload]], but: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """An error ends the block. It is logged and not raised, `but` for some."""
    try:
        yield
    except but:
        raise
    except Exception as error:
        trace = not isinstance(error, UNREACHABLE)
        kinds = _kinds_of(deliveries)
        log.warning("change.inline_failed", kind=kinds, error=str(error), exc_info=trace)


def _kinds_of(deliveries: Sequence[Delivery[Payload]]) -> str:
    return ", ".join(sorted({delivery.payload.kind for delivery in deliveries}))


_INSERT_MANY = """
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
    rows = fetch_all(alias, _INSERT_MANY, (lanes, kinds, [owner for owner, _ in payloads], bodies))
    by_owner = dict(payloads)
    deliveries = [Delivery(row[0], row[1], row[2], by_owner[row[1]]) for row in rows]
    transaction.on_commit(partial(run_inline, alias, deliveries), using=alias)
