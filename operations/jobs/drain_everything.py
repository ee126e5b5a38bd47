"""Delivers all pending changes of all databases, together with the drainers that run."""

from collections.abc import Iterator

from infra.changes.compensate import compensate, dry_run_batch
from infra.changes.lag import LaneLag, list_lane_lags
from infra.jobs.findings import Pause
from infra.jobs.types import Batch, Work
from infra.sharding.shards import all_aliases

# What another drainer holds, or what failed once, is delivered within this time.
MOST_WAITS = 120
WAIT_S = 0.5


def drain_everything(work: Work, pause: Pause) -> Iterator[Batch]:
    """Delivers changes until none is pending, for a minute at most.

    Each lane with changes that are left then is a failed row, and so are parked and paused ones:
    what they would change cannot be compared. `pause(seconds)` returns False when the run shall
    stop. Raises: errors of UNREACHABLE.
    """
    if work.dry_run:
        yield from (dry_run_batch(alias, None) for alias in all_aliases())
        return
    for _ in range(MOST_WAITS):
        yield from _drain_once()
        if not any(lag.pending for lag in _list_lags()) or not pause(WAIT_S):
            break
    for lag in _list_lags():
        if lag.pending or lag.parked or lag.paused:
            yield Batch(0, 1, lag.alias, details=[_describe(lag)])


def _drain_once() -> Iterator[Batch]:
    for alias in all_aliases():
        for report in compensate(alias):
            yield Batch(report.delivered, 0, alias)


def _list_lags() -> list[LaneLag]:
    return [lag for alias in all_aliases() for lag in list_lane_lags(alias)]


def _describe(lag: LaneLag) -> str:
    waiting = f"{lag.pending:,} changes pending, {lag.parked:,} parked, {lag.paused:,} paused"
    return f"{lag.alias} lane {lag.lane}: {waiting}; see changes lag"
