"""`manage.py export_account`: writes an account's data into an archive, for its owner."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from moderation.jobs.export_account import export_account


class Command(JobCommand):
    help = (
        "Writes the profile, posts, lists and marks of an account into a zip archive."
        " Needs --account and --to."
    )
    unit = "lines"
    flags = frozenset({JobFlag.ACCOUNT})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = "the archive to write; an existing file is refused"
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("export_account needs --account")
        if options["to"].exists():
            raise CommandError(f"{options['to']} exists already")
        return export_account(work.account_id, options["to"])
