"""`manage.py audit_conversations`: compares conversations with direct posts, and repairs them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.conversations.jobs.audit_conversations import audit_conversations


class Command(JobCommand):
    help = (
        "Compares the rows of conversations with the direct posts themselves. Differences that are"
        " not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_conversations(work, options["repair"], self.pause)
