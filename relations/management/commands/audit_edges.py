"""`manage.py audit_edges`: compares both sides of all edges and their counts, and repairs them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from relations.jobs.audit_edges import audit_edges, estimate_edge_audit


class Command(JobCommand):
    help = (
        "Compares forward edges, backward edges and counts. Differences that are not repaired count"
        " as failed, so the exit code is 1. --account compares the rows that the account owns."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_edge_audit(work)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_edges(work, options["repair"], self.pause, options["restored_wins"])
