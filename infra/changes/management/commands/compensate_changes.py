"""`manage.py compensate_changes`: drains what a failure left behind, once or on a schedule."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from infra.changes.compensate import compensate
from infra.changes.errors import UNREACHABLE
from infra.changes.retention import keep_partitions
from infra.jobs.command import Batch, JobCommand, chosen_aliases

UPKEEP_EVERY = timedelta(hours=1)


class Command(JobCommand):
    help = (
        "Drains every lane with pending changes: those whose bell was not heard, whose drainer died,"
        " whose store was away. Needs neither Redis nor Celery. Also keeps the daily partitions."
    )
    unit = "changes"

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every", type=float, metavar="SECONDS", help="go on forever, with this pause between"
        )

    def iter_batches(self, options: dict[str, Any]) -> Iterator[Batch]:
        kept_at = datetime.min.replace(tzinfo=UTC)
        while True:
            now = datetime.now(UTC)
            is_upkeep = now - kept_at >= UPKEEP_EVERY
            for alias in chosen_aliases(options):
                yield _compensate(alias, now if is_upkeep else None)
            kept_at = now if is_upkeep else kept_at
            if options["every"] is None:
                return
            time.sleep(options["every"])


def _compensate(alias: str, upkeep_at: datetime | None) -> Batch:
    """One database; one that is out of reach does not keep the others waiting."""
    try:
        if upkeep_at is not None:
            keep_partitions(alias, upkeep_at.date())
        report = compensate(alias)
    except UNREACHABLE as error:
        return Batch(0, 1, f"{alias} unreachable: {error}")
    return Batch(report.delivered, report.failed, alias)
