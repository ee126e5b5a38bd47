"""`manage.py compensate_changes`: drains what a failure left, once or as a process (--every)."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import structlog
from django.core.management import CommandError
from django.db import close_old_connections

from infra.changes.compensate import build_periodic_runner, compensate, dry_run_batch
from infra.changes.errors import UNREACHABLE
from infra.changes.periodic import maintain_partitions
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from infra.telemetry.publishing import PUBLISHER, metrics_folder

UPKEEP_EVERY = timedelta(hours=1)
log = structlog.get_logger()


class Command(JobCommand):
    help = (
        "Drains every lane with pending changes, after lost wake-ups, killed drainers and outages."
        " Does not need Redis. Also maintains the daily partitions."
    )
    unit = "changes"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every", type=_pause, metavar="SECONDS", help="run for ever, with this pause"
        )

    def is_recorded(self, options: dict[str, Any]) -> bool:
        """False with --every: several may run at once, and a run without an end says nothing."""
        return options["every"] is None

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if not work.dry_run:
            yield from self._iter_passes(work, options)
        elif options["every"] is not None:
            raise CommandError("--every runs for ever; --dry-run looks once")
        else:
            yield from (batch for alias in work.aliases for batch in _look(alias))

    def _iter_passes(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if options["every"] is not None:
            PUBLISHER.publish(metrics_folder(), "compensator")
        maintained_at, periodic = datetime.min.replace(tzinfo=UTC), build_periodic_runner()
        while True:
            # Treat each pass like a request: close broken database connections when it starts.
            close_old_connections()
            if datetime.now(UTC) - maintained_at >= UPKEEP_EVERY:
                maintained_at = datetime.now(UTC)
                _maintain_partitions(work.aliases, maintained_at.date())
            for alias in work.aliases:
                yield from _compensate(alias)
            if options["every"] is None:
                return
            periodic.run_due(work.aliases)
            if not self.pause(options["every"]):
                return


def _compensate(alias: str) -> Iterator[Batch]:
    return _reached(alias, (Batch(r.delivered, r.failed, alias) for r in compensate(alias)))


def _look(alias: str) -> Iterator[Batch]:
    return _reached(alias, map(dry_run_batch, [alias]))


def _reached(alias: str, batches: Iterator[Batch]) -> Iterator[Batch]:
    """The batches of one database. An unreachable database does not delay the others."""
    try:
        yield from batches
    except UNREACHABLE as error:
        log.warning("compensate.unreachable", alias=alias, error=str(error))
        yield Batch(0, 1, f"{alias} unreachable")


def _maintain_partitions(aliases: Sequence[str], today: date) -> None:
    for alias in aliases:
        try:
            maintain_partitions(alias, today)
        except UNREACHABLE as error:
            log.warning("compensate.partitions_not_maintained", alias=alias, error=str(error))


def _pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
