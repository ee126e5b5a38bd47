"""`manage.py backfill_tags`: fills the tag index from the posts."""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from timelines.jobs.backfill_tags import backfill_tags


class Command(JobCommand):
    help = "Adds the public posts with tags that the tag index lacks."
    unit = "posts"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_tags(work)
