"""`manage.py rebuild_relation_caches`: replaces cached lists that differ from the rows."""

from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from relations.jobs.rebuild_relation_caches import rebuild_relation_caches


class Command(JobCommand):
    help = (
        "Compares the cached following and followers lists of accounts with the rows, replaces"
        " those that differ, and drops cached relationships."
    )
    unit = "accounts"
    flags = WALK

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return rebuild_relation_caches(work)
