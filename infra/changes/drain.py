"""Takes pending changes to their consumers and files them as delivered.

Pending rows are taken in id order, never "id above the last seen": ids become visible out of
order, and a watermark would skip the late ones (docs/adr/0001). A crash anywhere leaves the rows
pending; consumers are idempotent, so the next drain repeats them.
"""

import dataclasses
from collections.abc import Sequence

import structlog
from django.conf import settings
from django.db import transaction

from infra.changes.deliver import Failure, Row, deliver
from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.changes.lease import lease, renew
from infra.changes.models import ChangeState
from infra.changes.failpoints import failpoint
from infra.sharding.sql import execute, fetch_all, fetch_one

MAX_BATCHES = 20
MAX_BACKOFF_S = 300
log = structlog.get_logger()

TAKE = """
SELECT id, kind, owner_id, payload, created_at, attempts FROM changes_change
WHERE lane = %s AND state = 0 AND next_attempt_at <= clock_timestamp()
ORDER BY id LIMIT %s
"""
FILE = """
WITH gone AS (DELETE FROM changes_change WHERE id = ANY(%s::bigint[]) RETURNING *)
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
SELECT (now() AT TIME ZONE 'UTC')::date, id, lane, kind, owner_id, payload, created_at, now()
FROM gone
"""
FAIL = """
UPDATE changes_change SET attempts = attempts + 1, state = %s, error = %s,
    next_attempt_at = clock_timestamp() + %s * interval '1 second'
WHERE id = %s
"""
IS_WAITING = """
SELECT 1 FROM changes_change
WHERE lane = %s AND state = 0 AND next_attempt_at <= clock_timestamp() LIMIT 1
"""


@dataclasses.dataclass(slots=True)
class DrainReport:
    """What one drain did. `more`: rows were left that could be taken right now."""

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

    Safety: any number may run at once, be killed anywhere, and run again.
    Raises: what UNREACHABLE lists, when this database itself cannot be reached.
    """
    report = DrainReport()
    with lease(alias, lane) as token:
        if token is None:
            return report
        _drain_batches(alias, lane, token, max_batches, report)
    # After the release: a change whose bell found the lane taken is seen here.
    report.more = fetch_one(alias, IS_WAITING, (lane,)) is not None
    return report


def _drain_batches(
    alias: str, lane: int, token: int, max_batches: int, report: DrainReport
) -> None:
    for _ in range(max_batches):
        rows = take_batch(alias, lane)
        if not rows:
            return
        try:
            report.add(_drain_batch(alias, lane, token, rows))
        except LeaseLost as error:
            log.warning("drain.lease_lost", alias=alias, lane=lane, error=str(error))
            return


def take_batch(alias: str, lane: int) -> list[Row]:
    """The oldest rows of a lane whose time has come, at most CHANGE_BATCH_SIZE."""
    return [Row(*row) for row in fetch_all(alias, TAKE, (lane, settings.CHANGE_BATCH_SIZE))]


def _drain_batch(alias: str, lane: int, token: int, rows: Sequence[Row]) -> DrainReport:
    renew(alias, lane, token)
    failures = deliver(alias, rows)
    failpoint("drain.before_filing")
    failed_ids = {failure.row.id for failure in failures}
    delivered = [row.id for row in rows if row.id not in failed_ids]
    with transaction.atomic(using=alias):
        renew(alias, lane, token)
        execute(alias, FILE, (delivered,))
        parked = sum(record_failure(alias, failure) for failure in failures)
    log.info("drain.batch_delivered", alias=alias, lane=lane, rows=len(delivered))
    return DrainReport(delivered=len(delivered), failed=len(failures), parked=parked)


def record_failure(alias: str, failure: Failure) -> bool:
    """Backs a row off, or parks it when its attempts are used up; tells whether it was parked.

    A store out of reach is nobody's fault: such a row waits and is never parked.
    """
    row, error = failure.row, failure.error
    is_parked = (
        not isinstance(error, UNREACHABLE) and row.attempts + 1 >= settings.CHANGE_MAX_ATTEMPTS
    )
    state = ChangeState.PARKED if is_parked else ChangeState.PENDING
    delay_s = 1 if isinstance(error, UNREACHABLE) else min(2**row.attempts, MAX_BACKOFF_S)
    text = f"{type(error).__name__}: {error}"[:2_000].replace("\x00", "")
    execute(alias, FAIL, (state, text, delay_s, row.id))
    log.warning("drain.row_failed", alias=alias, change=row.id, error=text, parked=is_parked)
    return is_parked
