"""`manage.py drain_changes`: delivers pending changes now, by hand, without bell or Celery."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.compensate import compensate
from infra.jobs.command import Batch, JobCommand, chosen_aliases


class Command(JobCommand):
    help = "Delivers pending changes once, lane by lane, until none is due."
    unit = "changes"

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lane", type=int, help="only this lane")

    def iter_batches(self, options: dict[str, Any]) -> Iterator[Batch]:
        for alias in chosen_aliases(options):
            for report in compensate(alias, options["lane"]):
                yield Batch(report.delivered, report.failed, alias)
