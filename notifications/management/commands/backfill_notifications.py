"""`manage.py backfill_notifications`: adds missing notifications.

**When**: after `audit_notifications` found accounts that lack some. For each account it looks at
the newest 400 followers, requests to follow and responses, and adds the notifications that are
missing, at the places of their time in the list. It does not bring back what was cleared or
dismissed, what is older than `NOTIFICATION_DAYS`, and what was left out because an hour had too
many. It also leaves out responses in a thread that the account mutes, and those from before it
ended such a mute. Mentions that are no replies, new posts and ends of polls come from the change
table only ([`replay_changes`](changes.md#replay_changes)). **Costs**: five queries per 100
accounts, and a transaction where something is missing.

```
$ manage.py backfill_notifications --dry-run
3,959 accounts looked at, 11,204 would change, 0 failed
```
"""

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
