"""`manage.py drain_changes`: delivers pending changes now, by hand, without bell or Celery."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.append import all_lanes
from infra.changes.drain import drain
from infra.jobs.command import Batch, JobCommand, chosen_aliases


class Command(JobCommand):
    help = "Delivers pending changes once, lane by lane, until none is due."
    unit = "changes"

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lane", type=int, choices=all_lanes(), help="only this lane")

    def iter_batches(self, options: dict[str, Any]) -> Iterator[Batch]:
        lanes = all_lanes() if options["lane"] is None else [options["lane"]]
        for alias in chosen_aliases(options):
            for lane in lanes:
                yield from _drain_lane(alias, lane)


def _drain_lane(alias: str, lane: int) -> Iterator[Batch]:
    while True:
        report = drain(alias, lane, max_batches=1)
        yield Batch(report.delivered, report.failed, f"{alias} lane {lane}")
        if not report.more or not (report.delivered or report.failed):
            return
