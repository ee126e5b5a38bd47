"""`manage.py backfill_recent_posts`: shards' recent-posts indexes, filled from the posts tables."""

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
        "Fills the recent-posts index of shards that have none yet, from all shards' posts."
        " --shard names the one to fill."
    )
    unit = "accounts"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="complete indexes too")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_recent_posts(work, options["again"])
