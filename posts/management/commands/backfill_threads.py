"""`manage.py backfill_threads`: writes the first post of the thread to old replies.

**When**: after replies were written by code that did not name the first post of their thread: a
muted thread would miss them. The job writes it to their rows and drops what caches have of them. If
it is killed, also run [`purge_caches --family posts.week`](caches.md#purge_caches) at the end.
**Costs**: one query per shard for each level of replies and batch, one statement.
"""

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
