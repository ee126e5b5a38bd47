"""`manage.py purge_deleted_posts`: takes the rows of posts out that were deleted long ago."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, count
from infra.jobs.types import Batch, Work
from posts.jobs.purge_deleted_posts import KEPT_DAYS, purge_deleted_posts


class Command(JobCommand):
    help = "Takes the rows of posts out that were deleted long ago; their words are gone already."
    unit = "deleted posts"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = f"that were deleted more than so many days ago ({KEPT_DAYS})"
        parser.add_argument("--days", type=count, default=KEPT_DAYS, metavar="DAYS", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=options["days"]))
