"""`manage.py recount_counters`: repairs counts that differ from their rows.

**When**: [`audit_counters`](#audit_counters) found differences. It adds the difference to each
wrong count. `--dry-run` prints the same lines and changes nothing. It is exact while others write,
and no write waits for it. A change (`counters.repaired`) refreshes the caches, also when the
command dies after a commit. **Costs**: as `audit_counters`, and a transaction of five statements
for each account and wrong count. A repaired count has a new version, so lists and home timelines
with the old version are read again from the source.

```
$ manage.py recount_counters --dry-run
account 17 FOLLOWERS: 4 -> 1
400 accounts looked at, 1 would change, 0 failed
$ manage.py recount_counters
account 17 FOLLOWERS: 4 -> 1
400 accounts done, 1 changed, 0 failed
```
"""

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
