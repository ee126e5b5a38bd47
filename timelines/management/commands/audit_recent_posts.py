"""`manage.py audit_recent_posts`: compares recent-posts indexes with posts, and repairs them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from timelines.jobs.audit_recent_posts import audit_recent_posts


class Command(JobCommand):
    help = (
        "Compares the recent-posts index of each shard with the posts of all shards. Differences"
        " that are not repaired count as failed, so the exit code is 1. --shard: this index only."
    )
    unit = "rows"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index has the posts of all shards."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_recent_posts(work, options["repair"], self.pause)
