"""Drains what a failure left behind: a bell not heard, a drainer killed, a store that was away."""

from infra.changes.drain import DrainReport, drain
from infra.changes.errors import UNREACHABLE
from infra.changes.lag import lag_of


def compensate(alias: str) -> DrainReport:
    """Drains every lane of one database that has pending rows, with or without Redis and Celery."""
    report = DrainReport()
    for lag in lag_of(alias):
        if lag.pending:
            lane_report = drain(alias, lag.lane)
            report.add(lane_report)
            report.more |= lane_report.more
    return report
