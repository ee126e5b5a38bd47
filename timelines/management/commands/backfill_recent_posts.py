"""`manage.py backfill_recent_posts`: fills recent-posts indexes from the posts."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from timelines.jobs.backfill_recent_posts import backfill_recent_posts


class Command(JobCommand):
    help = (
        "Fills the recent-posts index of shards that have none yet, from the posts of all shards."
        " --shard: fill the index of this shard only."
    )
    unit = "accounts"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="fill complete indexes too")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index needs the posts of all shards, and one walk fills all indexes."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_recent_posts(work, options["again"])
