"""`manage.py suspend_account`: shuts an account out, reversibly."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import Flag
from infra.jobs.types import Batch, Work
from moderation.jobs.judging import judge_one
from moderation.types import Act


class Command(JobCommand):
    help = (
        "Suspends an account: nobody can sign in to it, and all that is of it is shown to nobody."
        " Reversible for SUSPENSION_DAYS. Needs --account and --reason."
    )
    unit = "accounts"
    flags = frozenset((Flag.ACCOUNT, Flag.DRY_RUN))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="kept with the act, shown to the account")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None or not options["reason"].strip():
            raise CommandError("--account says who, and --reason why")
        return judge_one(work, Act.SUSPEND, options["reason"], datetime.now(UTC))
