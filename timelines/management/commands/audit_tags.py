"""`manage.py audit_tags`: compares the tag index with the posts, and repairs it."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from timelines.jobs.audit_tags import audit_tags


class Command(JobCommand):
    help = (
        "Compares the tag index with the posts. Differences that are not repaired count as failed,"
        " so the exit code is 1."
    )
    unit = "rows"
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_tags(work, options["repair"], self.pause)
