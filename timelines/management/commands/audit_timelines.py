"""`manage.py audit_timelines`: do live timelines have what they promise?"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.passes import limit_lines
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.audit_timelines import audit_timelines
from timelines.jobs.live_timelines import ACCOUNTS, BATCH_SIZE
from timelines.jobs.shares import share


class Command(JobCommand):
    help = (
        "Compares live timelines with the posts of whom their readers follow. Those that lack"
        " anything count as failed, so that the exit code is 1."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--share", type=share, default=1.0, help="of the live timelines, drawn: 0.01 (all)"
        )
        parser.add_argument("--repair", action="store_true", help="add what is missing")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return limit_lines(audit_timelines(work, options["share"], options["repair"]))
