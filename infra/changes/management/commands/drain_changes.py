"""`manage.py drain_changes`: delivers pending changes now, without a drainer."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.compensate import compensate, dry_run_batch
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers pending changes once, lane by lane, until none is due."
    unit = "changes"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lane", type=int, help="only this lane")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        for alias in work.aliases:
            if work.dry_run:
                yield dry_run_batch(alias, options["lane"])
                continue
            for report in compensate(alias, options["lane"]):
                yield Batch(report.delivered, report.failed, alias)
