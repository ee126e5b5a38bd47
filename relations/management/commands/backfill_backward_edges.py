"""`manage.py backfill_backward_edges`: writes backward edges from forward edges."""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from relations.jobs.backfill_backward_edges import backfill_backward_edges
from relations.jobs.edge_sightings import FORWARD


class Command(JobCommand):
    help = (
        "Writes backward edges and follower counts that are missing or older than their forward"
        " edge. --shard and --account select by follower."
    )
    unit = "forward edges"
    flags = WALK

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, FORWARD)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_backward_edges(work)
