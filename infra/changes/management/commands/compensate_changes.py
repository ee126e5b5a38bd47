"""`manage.py compensate_changes`: drains what a failure left, once or as a process (--every)."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.management import CommandError

from infra.changes.compensate import compensate, dry_run_batch
from infra.changes.compensator import Compensator, maintain_or_warn
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.processes.reporter import REPORTER
from infra.sharding.placement import Placement
from infra.sharding.readiness import wait_until_ready
from infra.sharding.shards import all_aliases
from infra.telemetry.publishing import PUBLISHER, metrics_folder


class Command(JobCommand):
    """Drains every lane with pending changes, after lost wake-ups, killed drainers and outages.
    Does not need Redis. Also maintains the daily partitions.

    **When**: always, as a process with `--every SECONDS` (the **compensator**). It delivers the
    rows that a lost wake-up, a killed drainer or an outage left. Each database has a thread of its
    own, so a slow one delays no other. Between two passes a thread runs the [periodic
    tasks](../periodic-tasks.md) of its database. Once an hour it creates the partitions of
    `changes_delivered` for the coming days and drops those older than `CHANGE_REPLAY_DAYS`.
    `--dry-run` lists once what a pass would do, like [`changes drain`](#changes-drain). **Costs**:
    one query for each database and pass when there is nothing to do. It does not need Redis.
    **Stopping it**: Ctrl-C or SIGTERM. The exit code is 2, because the process runs for ever.

    With `--every` an unreachable database counts as one failure and does not delay the others;
    without it, it is [left out](index.md#what-all-commands-share).
    """

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

    def await_databases(self, options: dict[str, Any]) -> bool:
        """With --every it waits for migrate_shards; False if it is stopped before that."""
        if options["every"] is None:
            return super().await_databases(options)
        return wait_until_ready(self.pause, self.stderr.write)

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False with --every: each database has a thread."""
        return options["every"] is None

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if options["every"] is None:
            return _pass(work)
        if work.dry_run:
            raise CommandError("--every runs for ever; --dry-run looks once")
        PUBLISHER.publish(metrics_folder(), "compensator")
        REPORTER.report("compensator")
        list_aliases = (lambda: work.aliases) if options["shard"] else all_aliases
        return Compensator(list_aliases, options["every"]).iter_batches(self.is_stopping)


def _pass(work: Work) -> Iterator[Batch]:
    now = datetime.now(UTC)
    for alias in work.aliases:
        if work.dry_run:
            yield dry_run_batch(alias)
            continue
        maintain_or_warn(alias, now)
        for report in compensate(alias):
            yield Batch(report.delivered, report.failed, alias)


def _pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
