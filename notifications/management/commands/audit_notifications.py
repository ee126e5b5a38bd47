"""`manage.py audit_notifications`: compares notifications with what happened, and repairs them.

**When**: to find out whether notifications are right: after parked changes were discarded, a shard
was restored, or with a new release. First it reads all notifications: does what they tell of still
exist? Then it compares as `backfill_notifications` does, and names the accounts that lack
notifications of events that are more than a minute old. Each difference is a failed row, so the
exit code is 1. `--repair` ends notifications of what was lost or has ended, deletes posts again
that are back although their mentions have ended (`--restored-wins`: they stay), and adds what is
missing. What a pending change explains is compared again, for two seconds. **Costs**: three queries
per 100 notifications, and one on each shard of the posts; five queries per 100 accounts.

```
$ manage.py audit_notifications
account 45: favourite for 17 was lost
account 17: 2 missing
4,210 rows done, 2 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra import clock
from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from notifications.jobs.audit_notifications import audit_notifications
from notifications.jobs.backfill_notifications import BATCH_SIZE
from notifications.sql import HELD_NOTIFICATIONS

# What happened later may still wait in the change table.
SETTLED_MS = 60_000


class Command(JobCommand):
    help = (
        "Compares notifications with the edges, responses and posts that they are of. Differences"
        " that are not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        accounts, held = (estimate_rows(work, table) for table in (ACCOUNTS, HELD_NOTIFICATIONS))
        return None if accounts is None or held is None else accounts + held

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        now_ms = clock.now_ms()
        times = (now_ms - SETTLED_MS, now_ms)
        return audit_notifications(
            work, options["repair"], self.pause, *times, options["restored_wins"]
        )
