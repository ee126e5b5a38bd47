"""Delivered changes, delivered again: for a consumer that was wrong and has been mended."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import transaction

from infra.changes.append import append_follow_ups
from infra.changes.deliver import ChangeRow, Failure, deliver
from infra.changes.registry import follow_up_kinds
from infra.sharding.sql import fetch_all

PAGE = """
SELECT delivered_on, id, kind, owner_id, payload, created_at, 0 AS attempts FROM changes_delivered
WHERE (delivered_on, id) > (%(day)s::date, %(id)s)
    AND delivered_on <= (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
    AND delivered_at >= %(since)s AND delivered_at < %(until)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND kind <> ALL(%(left_out)s)
    AND (%(owner_id)s::bigint IS NULL OR owner_id = %(owner_id)s)
ORDER BY delivered_on, id LIMIT %(limit)s
"""


class ReplayFilter(NamedTuple):
    """Which delivered changes: a span of delivery times, optionally one kind, one owner."""

    since: datetime
    until: datetime
    kind: str | None = None
    owner_id: int | None = None


class ReplayPosition(NamedTuple):
    """Where a delivered row lies. `day`: ISO 8601, in UTC."""

    day: str
    id: int


class DeliveredPage(NamedTuple):
    """Delivered rows, and the place of the last."""

    rows: list[ChangeRow]
    place: ReplayPosition


def iter_delivered(
    alias: str,
    chosen: ReplayFilter,
    batch_size: int,
    after: ReplayPosition | None = None,
    limit: int | None = None,
) -> Iterator[DeliveredPage]:
    """Batches of delivered rows in filing order, found by key (no OFFSET), `limit` in all.

    Follow-ups are left out: what brought them about brings them about again.
    """
    wanted = chosen._asdict() | {"left_out": follow_up_kinds()}
    place = after or ReplayPosition(chosen.since.astimezone(UTC).date().isoformat(), 0)
    left = limit
    while left != 0:
        wanted["limit"] = min(batch_size, left or batch_size)
        rows = fetch_all(alias, PAGE, place._asdict() | wanted)
        if not rows:
            return
        place = ReplayPosition(rows[-1][0].isoformat(), rows[-1][1])
        yield DeliveredPage([ChangeRow(*row[1:]) for row in rows], place)
        left = left and left - len(rows)


def replay_batch(alias: str, rows: list[ChangeRow]) -> list[Failure]:
    """Delivers rows again; consumers are idempotent, so what was right stays as it is."""
    outcome = deliver(alias, rows)
    with transaction.atomic(using=alias):
        append_follow_ups(alias, outcome.follow_ups, drained_lane=None)
    return outcome.failures
