"""`manage.py purge_deleted_posts`: deletes the rows of posts that were deleted long ago.

**When**: it runs automatically, once a day, in time slices. Run it by hand with another `--days`.
It deletes the rows of posts that were deleted more than `--days` ago (30); the texts were removed
at the deletion. An author's newest row stays, because the next id is made from it. A row with a
live favourite, repost or reply stays, because undoing these needs the row. **Costs**: two
statements for 500 rows, by an index of deleted posts only.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, count
from infra.jobs.types import Batch, Work
from posts.jobs.purge_deleted_posts import RETENTION_DAYS, purge_deleted_posts


class Command(JobCommand):
    help = "Deletes the rows of posts that were deleted long ago. Their texts are already deleted."
    unit = "deleted posts"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = f"only posts deleted more than DAYS days ago ({RETENTION_DAYS})"
        parser.add_argument("--days", type=count, default=RETENTION_DAYS, metavar="DAYS", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=options["days"]))
