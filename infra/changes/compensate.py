"""Drains the rows that a failure left: a wake-up was lost, a drainer killed, a store was away.

Also tells what a drain would do (for dry runs), and builds the runner of periodic tasks.

Drains one lane once: for compensation, commands and tests. The drainer runs for ever.
"""

from collections.abc import Iterator
from typing import NamedTuple

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from infra.changes.batches import DrainReport, drain_batch, take_batch
from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.lanes import PAUSED_OFFSET, batch_size
from infra.changes.lease import Heartbeat, Tokens, lease
from infra.changes.pausing import finish_resuming, list_ending_kinds
from infra.jobs.periodic import PeriodicRunner
from infra.jobs.types import Batch
from infra.sharding.sql import fetch_all, fetch_one

MAX_BATCHES = 20

IS_DUE = """
SELECT 1 FROM changes_change
WHERE lane = %s AND state = 0 AND next_attempt_at <= clock_timestamp() LIMIT 1
"""


def drain(alias: str, lane: int, max_batches: int = MAX_BATCHES) -> DrainReport:
    """Drains a lane until it is empty, its lease is lost, or `max_batches` are done.

    Safety: any number of drains may run at once, be killed anywhere, and run again.
    Raises: errors of UNREACHABLE, when this database itself cannot be reached.
    """
    report = DrainReport()
    with lease(alias, [lane]) as tokens:
        if not tokens:
            return report
        with Heartbeat(alias, tokens):
            _drain_batches(alias, lane, tokens, max_batches, report)
    # Read after the release: a change may have come while this drain held the lane.
    report.more = fetch_one(alias, IS_DUE, (lane,)) is not None
    return report


def _drain_batches(
    alias: str, lane: int, tokens: Tokens, max_batches: int, report: DrainReport
) -> None:
    for _ in range(max_batches):
        taken = take_batch(alias, [lane])
        if not taken:
            return
        try:
            report.add(drain_batch(alias, tokens, taken))
        except LeaseLost as error:
            log.warning("drain.lease_lost", alias=alias, lane=lane, error=str(error))
            return


# The conditions of the drain (TAKE) and of resuming a kind.
DUE = f"""
SELECT c.lane %% {PAUSED_OFFSET}, c.kind, count(*),
    greatest(extract(epoch FROM clock_timestamp() - min(c.created_at)), 0),
    CASE WHEN c.lane >= {PAUSED_OFFSET} THEN 'resume'
        WHEN p.kind IS NULL OR p.is_ending THEN 'deliver'
        ELSE 'pause' END AS fate
FROM changes_change c LEFT JOIN changes_pausedkind p ON p.kind = c.kind
WHERE c.state = 0 AND (%(lane)s::int IS NULL OR c.lane = %(lane)s OR c.lane >= {PAUSED_OFFSET})
    AND (c.lane >= {PAUSED_OFFSET} AND coalesce(p.is_ending, false)
        OR c.lane < {PAUSED_OFFSET} AND c.next_attempt_at <= clock_timestamp())
GROUP BY 1, 2, 5 ORDER BY 1, 2, 5
"""  # noqa: S608 - of constants
log = structlog.get_logger()
FATES = {
    "deliver": "would be delivered",
    "pause": "would move to the paused lane: the kind is paused",
    "resume": "would return to their lane: the pause has ended",
}


class DueChanges(NamedTuple):
    """Changes of one kind in one lane that are due. `fate`: a key of FATES."""

    lane: int
    kind: str
    rows: int
    oldest_s: float
    fate: str

    def __str__(self) -> str:
        waited = f"the oldest waits for {self.oldest_s:,.1f} s"
        return f"lane {self.lane}: {self.rows:,} {self.kind} {FATES[self.fate]}, {waited}"


def compensate(alias: str, lane: int | None = None) -> Iterator[DrainReport]:
    """Drains every lane of one database that has pending rows, or one lane; a report a batch.

    First it finishes resuming kinds, in case changes resume was killed. It finds lanes by their
    rows, so lanes above CHANGE_LANES are drained too. It does not need Redis.
    Raises: errors of UNREACHABLE, when the database is away.
    """
    for kind in list_ending_kinds(alias):
        finish_resuming(alias, kind)
    for lag in list_lane_lags(alias):
        if lag.pending and lane in (None, lag.lane):
            yield from _drain_pending(lag)


def compensate_or_skip(alias: str) -> Iterator[Batch]:
    """`compensate` as batches. A database that is unreachable is a failed batch, and no error."""
    try:
        for report in compensate(alias):
            yield Batch(report.delivered, report.failed, alias)
    except UNREACHABLE as error:
        log.warning("compensate.unreachable", alias=alias, error=str(error))
        yield Batch(0, 1, f"{alias} unreachable")


def _drain_pending(lag: LaneLag) -> Iterator[DrainReport]:
    """At most the batches that the pending rows fill, so rows that keep failing cannot hold it."""
    for _ in range(lag.pending // batch_size(lag.lane) + 1):
        report = drain(lag.alias, lag.lane, max_batches=1)
        yield report
        if not report.more:
            return


def list_due_changes(alias: str, lane: int | None = None) -> list[DueChanges]:
    """What `compensate(alias, lane)` would do now, by lane and kind. It takes no lease.

    Rows that back off after a failure and follow-up changes of the deliveries are not included.
    Raises: errors of UNREACHABLE. Cost: one query of undelivered rows.
    """
    rows = fetch_all(alias, DUE, {"lane": lane})
    return [DueChanges(row[0], row[1], row[2], float(row[3]), row[4]) for row in rows]


def dry_run_batch(alias: str, lane: int | None = None) -> Batch:
    """The due changes of one database as the batch of a dry run, a line for each kind and lane."""
    due = list_due_changes(alias, lane)
    rows = sum(changes.rows for changes in due)
    return Batch(rows, 0, alias, changed=rows, details=[f"{alias} {changes}" for changes in due])


def build_periodic_runner() -> PeriodicRunner:
    """The runner of the tasks that `settings.PERIODIC_TASKS` names, for one compensator."""
    return PeriodicRunner(import_string(settings.PERIODIC_TASKS), UNREACHABLE)
