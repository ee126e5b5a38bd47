"""`manage.py audit_counters`: finds counts that differ from their rows."""

from collections.abc import Iterator
from typing import Any

from counters.jobs.audit_counters import audit_counters
from counters.jobs.walk_owners import BATCH_SIZE
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Compares every count with its rows. Prints differences; the exit code is then 1."
    unit = "accounts"
    flags = WALK - {JobFlag.DRY_RUN}
    batch_size = BATCH_SIZE

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_counters(work)
