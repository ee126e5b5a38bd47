"""`manage.py backfill_notifications`: adds missing notifications."""

from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra import clock
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from notifications.jobs.backfill_notifications import BATCH_SIZE, backfill_notifications


class Command(JobCommand):
    help = "Adds the notifications that accounts lack of their newest followers and responses."
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_notifications(work, clock.now_ms())
