"""`manage.py audit_notifications`: finds accounts that lack notifications."""

from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra import clock
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from notifications.jobs.backfill_notifications import BATCH_SIZE, audit_notifications

# What happened later may still wait in the change table.
SETTLED_MS = 60_000


class Command(JobCommand):
    help = (
        "Compares notifications with the newest followers and responses. An account that lacks some"
        " counts as failed, so the exit code is 1."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        now_ms = clock.now_ms()
        return audit_notifications(work, now_ms - SETTLED_MS, now_ms)
