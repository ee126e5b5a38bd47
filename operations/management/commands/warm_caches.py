"""`manage.py warm_caches`: loads cache entries of hot authors before pages need them."""

import time
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError
from redis.exceptions import RedisError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from operations.jobs.warm_caches import warm_caches


class Command(JobCommand):
    help = (
        "Loads profile, counts, recent posts and hot-author entries of every hot author, or of one"
        " --account, where Redis does not have them."
    )
    unit = "accounts"
    flags = WALK
    batch_size = 100

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        try:
            yield from warm_caches(work, time.time())
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
