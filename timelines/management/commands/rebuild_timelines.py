"""`manage.py rebuild_timelines`: live timelines become what the posts say."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.passes import limit_lines
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.live_timelines import ACCOUNTS, BATCH_SIZE
from timelines.jobs.rebuild_timelines import rebuild_timelines


class Command(JobCommand):
    help = (
        "Adds to live timelines what is missing and takes out what is dead, unseen by readers."
        " Needs --account, --shard or --all; --dry-run names every entry."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="of all accounts")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        chosen = [options["account"] is not None, options["shard"] is not None, options["all"]]
        if sum(chosen) != 1:
            raise CommandError("one of --account, --shard and --all says whose timelines are meant")
        return limit_lines(rebuild_timelines(work))
