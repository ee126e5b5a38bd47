"""`manage.py trim_notifications`: deletes old notifications.

**When**: never by hand; the compensator runs it in [time slices](../periodic-tasks.md). It deletes
notifications that are older than `NOTIFICATION_DAYS`, and all but the newest 10,000 of an account.
**Costs**: one transaction of two statements per 100 accounts with notifications.

```
$ manage.py trim_notifications --dry-run
3,201 inboxes looked at, 817 would change, 0 failed
```
"""

from collections.abc import Iterator
from typing import Any

from infra import clock
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from notifications.jobs.trim_notifications import BATCH_SIZE, trim_notifications
from notifications.sql import INBOXES


class Command(JobCommand):
    help = "Deletes notifications that are old, or beyond the number that an owner keeps."
    unit = "inboxes"
    flags = WALK
    batch_size = BATCH_SIZE

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, INBOXES)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return trim_notifications(work, clock.now_ms())
