"""Drains what a failure left behind: a bell not heard, a drainer killed, a store that was away."""

from collections.abc import Iterator

from django.conf import settings
from django.utils.module_loading import import_string

from infra.changes.drain import DrainReport, drain
from infra.changes.errors import UNREACHABLE
from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.lanes import batch_size
from infra.changes.pausing import finish_resuming, list_ending_kinds
from infra.jobs.periodic import PeriodicRunner


def compensate(alias: str, lane: int | None = None) -> Iterator[DrainReport]:
    """Drains every lane of one database that has pending rows, or one lane; a report a batch.

    Lanes are found by their rows, so those that CHANGE_LANES no longer names are drained too.
    Before it, what resume_changes left when it was killed is let go.
    Needs neither Redis nor Celery. Raises: what UNREACHABLE lists, when the database is away.
    """
    for kind in list_ending_kinds(alias):
        finish_resuming(alias, kind)
    for lag in list_lane_lags(alias):
        if lag.pending and lane in (None, lag.lane):
            yield from _drain_pending(lag)


def _drain_pending(lag: LaneLag) -> Iterator[DrainReport]:
    """As many batches as there were rows for: rows that fail over and over do not keep it here."""
    for _ in range(lag.pending // batch_size(lag.lane) + 1):
        report = drain(lag.alias, lag.lane, max_batches=1)
        yield report
        if not report.more:
            return


def build_periodic_runner() -> PeriodicRunner:
    """Runs the periodic tasks that `settings.PERIODIC_TASKS` names, for one compensator."""
    return PeriodicRunner(import_string(settings.PERIODIC_TASKS), UNREACHABLE)
