"""`manage.py warm_caches`: loads cache entries of hot authors before pages need them."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError
from redis.exceptions import RedisError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, count
from infra.jobs.types import Batch, Work
from operations.jobs.warm_caches import warm_caches


class Command(JobCommand):
    help = (
        "Loads profile, counts, recent posts and hot-author entries of every hot author, or of one"
        " --account, or of those of an announced event, where Redis does not have them."
    )
    unit = "accounts"
    flags = WALK
    batch_size = 100

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--event",
            type=count,
            metavar="ID",
            action="append",
            default=[],
            help="only this account, hot or not; may be repeated",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        try:
            yield from warm_caches(work, time.time(), options["event"])
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
