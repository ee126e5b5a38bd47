"""`manage.py audit_responses`: compares responses with their sources, and repairs both sides."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.jobs.audit_responses import audit_responses, estimate_response_audit


class Command(JobCommand):
    help = (
        "Compares recorded replies, reposts and favourites with the posts and marks themselves."
        " Differences that are not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_response_audit(work)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_responses(work, options["repair"], self.pause, options["restored_wins"])
