"""`manage.py rebuild_count_cache`: makes the caches of counts equal to the counts."""

from collections.abc import Iterator
from typing import Any

from counters.jobs.rebuild_count_cache import rebuild_count_cache
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Compares cached counts of accounts and posts with the counts, replaces wrong ones."
    unit = "subjects"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return rebuild_count_cache(work)
