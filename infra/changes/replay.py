"""Delivers delivered changes again, for example after a bug in a consumer was fixed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import transaction

from infra.changes.append import append_follow_ups
from infra.changes.deliver import ChangeRow, Failure, deliver
from infra.changes.lanes import CHANGE_BATCH_SIZE
from infra.changes.registry import follow_up_kinds
from infra.jobs.types import Batch, Work
from infra.sharding.sql import fetch_all

PAGE = """
SELECT delivered_on, id, kind, owner_id, payload, created_at, 0 AS attempts FROM changes_delivered
WHERE (delivered_on, id) > (%(day)s::date, %(id)s)
    AND delivered_on <= (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
    AND delivered_at >= %(since)s AND delivered_at < %(until)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND kind <> ALL(%(excluded_kinds)s)
    AND (%(owner_id)s::bigint IS NULL OR owner_id = %(owner_id)s)
ORDER BY delivered_on, id LIMIT %(limit)s
"""


class ReplayFilter(NamedTuple):
    """Selects delivered changes by time of delivery, and by kind and owner if given."""

    since: datetime
    until: datetime
    kind: str | None = None
    owner_id: int | None = None


class ReplayPosition(NamedTuple):
    """The key of a delivered row. `day`: ISO 8601, in UTC."""

    day: str
    id: int


class DeliveredPage(NamedTuple):
    """Delivered rows, and the key of the last one."""

    rows: list[ChangeRow]
    position: ReplayPosition


def iter_delivered(
    alias: str,
    selected: ReplayFilter,
    batch_size: int,
    after: ReplayPosition | None = None,
    limit: int | None = None,
) -> Iterator[DeliveredPage]:
    """Pages of delivered rows by day and id, at most `limit` rows in all. One query a page.

    Follow-up changes are left out, because the change that caused them causes them again.
    """
    wanted = selected._asdict() | {"excluded_kinds": follow_up_kinds()}
    position = after or ReplayPosition(selected.since.astimezone(UTC).date().isoformat(), 0)
    left = limit
    while left != 0:
        wanted["limit"] = min(batch_size, left or batch_size)
        rows = fetch_all(alias, PAGE, position._asdict() | wanted)
        if not rows:
            return
        position = ReplayPosition(rows[-1][0].isoformat(), rows[-1][1])
        yield DeliveredPage([ChangeRow(*row[1:]) for row in rows], position)
        left = left and left - len(rows)


def replay_batch(alias: str, rows: list[ChangeRow]) -> list[Failure]:
    """Delivers rows again; returns those that failed. Consumers are idempotent, so this is safe."""
    outcome = deliver(alias, rows)
    with transaction.atomic(using=alias):
        append_follow_ups(alias, outcome.follow_ups, drained_lanes=())
    return outcome.failures


def replay(work: Work, selected: ReplayFilter) -> Iterator[Batch]:
    """The job of changes replay: a batch a page of one database after the other.

    Changes that fail are failed rows, a line each. It continues after `work.after`.
    """
    size = min(work.batch_size, CHANGE_BATCH_SIZE)
    for alias, page in _pages(work, selected, size):
        failures = [] if work.dry_run else replay_batch(alias, page.rows)
        lines = [f"{alias} #{failure.row.id}: {failure.error}" for failure in failures]
        failed, position = len(failures), {"alias": alias, "position": page.position}
        yield Batch(len(page.rows) - failed, failed, alias, None, position, lines)


def _pages(work: Work, selected: ReplayFilter, size: int) -> Iterator[tuple[str, DeliveredPage]]:
    """Pages of one database after the other, from the position where an earlier run stopped."""
    after = work.after or {"alias": None, "position": None}
    aliases, left = list(work.aliases), work.limit
    if after["alias"] in aliases:
        aliases = aliases[aliases.index(after["alias"]) :]
    for alias in aliases:
        position = ReplayPosition(*after["position"]) if alias == after["alias"] else None
        for page in iter_delivered(alias, selected, size, position, left):
            yield alias, page
            left = left and left - len(page.rows)
        if left == 0:
            return
