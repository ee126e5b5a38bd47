"""`manage.py backfill_threads`: writes the first post of the thread to old replies."""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.jobs.backfill_threads import backfill_threads


class Command(JobCommand):
    help = "Writes the first post of the thread to replies that old code published."
    unit = "replies"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_threads(work)
