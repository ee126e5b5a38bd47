"""`manage.py recount_counters`: repairs counts that differ from their rows."""

from collections.abc import Iterator
from typing import Any

from counters.jobs.recount_counters import recount_counters
from counters.jobs.walk_owners import BATCH_SIZE
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Compares every count with its rows and repairs those that differ, while others write."
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return recount_counters(work)
