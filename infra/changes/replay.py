"""Delivered changes, delivered again: for a consumer that was wrong and has been mended."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from infra.changes.deliver import Failure, Row, deliver
from infra.sharding.sql import fetch_all

PAGE = """
SELECT delivered_on, id, kind, owner_id, payload, created_at, 0 AS attempts FROM changes_delivered
WHERE (delivered_on, id) > (%(day)s, %(id)s)
    AND delivered_on <= (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
    AND delivered_at >= %(since)s AND delivered_at < %(until)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND (%(owner_id)s::bigint IS NULL OR owner_id = %(owner_id)s)
ORDER BY delivered_on, id LIMIT %(limit)s
"""


class ReplayFilter(NamedTuple):
    """Which delivered changes: a span of delivery times, optionally one kind, one owner."""

    since: datetime
    until: datetime
    kind: str | None = None
    owner_id: int | None = None


def iter_delivered(alias: str, chosen: ReplayFilter, batch_size: int) -> Iterator[list[Row]]:
    """Batches of delivered rows in filing order, found by key (no OFFSET)."""
    position = {"day": chosen.since.astimezone(UTC).date(), "id": 0}
    while True:
        rows = fetch_all(alias, PAGE, position | chosen._asdict() | {"limit": batch_size})
        if not rows:
            return
        yield [Row(*row[1:]) for row in rows]
        position = {"day": rows[-1][0], "id": rows[-1][1]}


def replay_batch(alias: str, rows: list[Row]) -> list[Failure]:
    """Delivers rows again; consumers are idempotent, so what was right stays as it is."""
    return deliver(alias, rows)
