"""Delivers pending changes to their consumers and files them as delivered.

A drain takes all pending rows in id order. It does not remember the last id: ids become visible
out of order, and a watermark would skip late ones (decision 0001). After a crash the rows are
still pending. Consumers are idempotent, so the next drain repeats them.
"""

import dataclasses
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import structlog
from django.db import transaction

from infra.changes.append import append_follow_ups
from infra.changes.causes import read_causes
from infra.changes.deliver import ChangeRow, deliver
from infra.changes.errors import LeaseLost
from infra.changes.failpoints import failpoint
from infra.changes.failures import record_failures
from infra.changes.lanes import batch_size
from infra.changes.lease import heartbeat, lease, renew
from infra.changes.metrics import count_delivered, count_failed
from infra.changes.pausing import move_to_paused_lane
from infra.sharding.sql import execute, fetch_all, fetch_one
from infra.telemetry.request_ids import caused_by, get_request_ids
from infra.telemetry.spans import span

MAX_BATCHES = 20
log = structlog.get_logger()

# PostgreSQL hashes the paused kinds once a statement; there are almost never any.
TAKE = """
SELECT id, kind, owner_id, payload, created_at, attempts,
    kind IN (SELECT kind FROM changes_pausedkind WHERE NOT is_ending)
FROM changes_change
WHERE lane = %s AND state = 0 AND next_attempt_at <= clock_timestamp()
ORDER BY id LIMIT %s
"""
FILE = """
WITH removed AS (DELETE FROM changes_change WHERE id = ANY(%s::bigint[]) RETURNING *)
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
SELECT (now() AT TIME ZONE 'UTC')::date, id, lane, kind, owner_id, payload, created_at, now()
FROM removed ORDER BY id
"""
IS_DUE = """
SELECT 1 FROM changes_change
WHERE lane = %s AND state = 0 AND next_attempt_at <= clock_timestamp() LIMIT 1
"""


@dataclasses.dataclass(slots=True)
class DrainReport:
    """Counts of one drain. `more`: rows are left that can be delivered now."""

    delivered: int = 0
    failed: int = 0
    parked: int = 0
    more: bool = False

    def add(self, other: "DrainReport") -> None:
        self.delivered += other.delivered
        self.failed += other.failed
        self.parked += other.parked


def drain(alias: str, lane: int, max_batches: int = MAX_BATCHES) -> DrainReport:
    """Drains a lane until it is empty, its lease is lost, or `max_batches` are done.

    Safety: any number of drains may run at once, be killed anywhere, and run again.
    Raises: errors of UNREACHABLE, when this database itself cannot be reached.
    """
    report = DrainReport()
    with lease(alias, lane) as token:
        if token is None:
            return report
        with heartbeat(alias, lane, token):
            _drain_batches(alias, lane, token, max_batches, report)
    # Read after the release: a change may have come while this drain held the lane.
    report.more = fetch_one(alias, IS_DUE, (lane,)) is not None
    return report


def _drain_batches(
    alias: str, lane: int, token: int, max_batches: int, report: DrainReport
) -> None:
    for _ in range(max_batches):
        taken = take_batch(alias, lane)
        if not taken:
            return
        rows = move_to_paused_lane(alias, taken)
        try:
            if rows:
                with (
                    caused_by(_causes_of(rows)),
                    span("drain.batch", _span_attributes(alias, lane, rows)),
                ):
                    report.add(_drain_batch(alias, lane, token, rows))
        except LeaseLost as error:
            log.warning("drain.lease_lost", alias=alias, lane=lane, error=str(error))
            return


def take_batch(alias: str, lane: int) -> list[ChangeRow]:
    """The oldest rows of a lane that are due, at most a batch. One query, by index."""
    return [ChangeRow(*row) for row in fetch_all(alias, TAKE, (lane, batch_size(lane)))]


def _drain_batch(alias: str, lane: int, token: int, rows: Sequence[ChangeRow]) -> DrainReport:
    renew(alias, lane, token)
    failpoint("drain.before_delivery")
    failures, follow_ups = deliver(alias, rows)
    failpoint("drain.before_filing")
    failed_ids = {failure.row.id for failure in failures}
    delivered = [row.id for row in rows if row.id not in failed_ids]
    with transaction.atomic(using=alias):
        renew(alias, lane, token)
        execute(alias, FILE, (delivered,))
        append_follow_ups(alias, follow_ups, lane)
        parked = record_failures(alias, failures)
        failpoint("drain.before_commit")
    failpoint("drain.after_filing")
    count_delivered(row.kind for row in rows if row.id not in failed_ids)
    count_failed(failure.row.kind for failure in failures)
    # All request ids, so that a search finds this line; other lines of a large batch name a few.
    causes = {"request_ids": list(get_request_ids())} if get_request_ids() else {}
    log.info("drain.batch_delivered", alias=alias, lane=lane, rows=len(delivered), **causes)
    return DrainReport(delivered=len(delivered), failed=len(failures), parked=parked)


def _span_attributes(alias: str, lane: int, rows: Sequence[ChangeRow]) -> dict[str, str | int]:
    causes = get_request_ids()
    known = {"tideline.request_id": causes[0]} if len(causes) == 1 else {}
    return {"tideline.shard": alias, "tideline.lane": lane, "tideline.rows": len(rows), **known}


def _causes_of(rows: Sequence[ChangeRow]) -> list[str]:
    """The requests behind the rows. A row that cannot be read is skipped; it fails at delivery."""
    found: list[str] = []
    for row in rows:
        with suppress(msgspec.MsgspecError):
            found += read_causes(row.payload)
    return found
