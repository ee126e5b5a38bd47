"""`manage.py restore_account`: ends what an account is restricted to."""

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
        "Ends whatever an account is restricted to: suspended, frozen, limited. Needs --account and"
        " --reason."
    )
    unit = "accounts"
    flags = frozenset((Flag.ACCOUNT, Flag.DRY_RUN))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="kept with the act, shown to the account")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None or not options["reason"].strip():
            raise CommandError("--account says who, and --reason why")
        return judge_one(work, Act.RESTORE, options["reason"], datetime.now(UTC))
