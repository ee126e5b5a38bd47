"""Drains one lane once: for compensation, commands and tests. The drainer runs for ever."""

import structlog

from infra.changes.batches import DrainReport, drain_batch, take_batch
from infra.changes.errors import LeaseLost
from infra.changes.lease import Heartbeat, Tokens, lease
from infra.sharding.sql import fetch_one

MAX_BATCHES = 20
log = structlog.get_logger()

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
