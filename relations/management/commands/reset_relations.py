"""`manage.py reset_relations`: ends all edges of one account, in both directions."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from relations.jobs.reset_relations import reset_relations


class Command(JobCommand):
    help = (
        "Ends all follows and blocks of an account, and those that others have of it, as if each"
        " account had done it itself. Needs --account, and --yes unless it is a --dry-run."
    )
    unit = "edges"
    flags = WALK - {JobFlag.SHARD}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="this cannot be undone")
        parser.add_argument(
            "--keep-blocks",
            action="store_true",
            help="keep the blocks by other accounts",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("--account is required: the account whose edges shall end")
        if not (options["yes"] or work.dry_run):
            raise CommandError("this cannot be undone: --dry-run shows it, --yes does it")
        return reset_relations(work, options["keep_blocks"])
