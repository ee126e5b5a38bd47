"""`manage.py audit_accounts`: compares users with accounts, and repairs what differs."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.jobs.audit_accounts import audit_accounts
from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows


class Command(JobCommand):
    help = (
        "Compares the users of the default database with the accounts of the shards. Differences"
        " that are not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        rows = estimate_rows(work, ACCOUNTS)
        return None if rows is None else 2 * rows

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_accounts(work, options["repair"])
