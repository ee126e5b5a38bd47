"""`manage.py audit_timelines`: finds entries that live timelines lack."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.audit_timelines import audit_timelines, parse_share
from timelines.jobs.live_timelines import BATCH_SIZE


class Command(JobCommand):
    help = (
        "Compares live timelines with the posts of their readers' followees. A timeline that lacks"
        " entries counts as failed, so the exit code is 1."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--share",
            type=parse_share,
            default=1.0,
            help="share of the live timelines to compare, chosen at random: 0.01 (all)",
        )
        parser.add_argument("--repair", action="store_true", help="add the missing entries")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_timelines(work, options["share"], options["repair"])
