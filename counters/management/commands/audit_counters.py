"""`manage.py audit_counters`: finds counts that differ from their rows.

**When**: to check that every count equals its rows, for example after a crash, after a shard was
restored, or with a new release. Each count that differs is a line, and the exit code is then 1.
Writes go on: one statement reads the counts and rows of a batch of accounts in one snapshot, so a
difference is drift and never a write in progress. Repair it with
[`recount_counters`](#recount_counters). **Costs**: two queries for 100 accounts, no lock. The
second query reads an index entry for each counted row. An account with more than 20 million
followers exceeds `STATEMENT_TIMEOUT_MS`. With a [replica](../../how-to/use-read-replicas.md) the
second query goes there, unless it takes longer than `REPLICA_TIMEOUT_MS`.

```
$ manage.py audit_counters
account 17 FOLLOWERS: 4 -> 1
399 accounts done, 1 failed
```

The compensator always does the same for a sample: every ten seconds it checks 20 accounts of each
shard after a random place, and the accounts that were found wrong before. Larger accounts are left
to this command. `/metrics` has, by shard:

- `tideline_counter_drift`: counts that were found wrong and still are. A value above 0 means a bug,
  or a database that lost data. `counters.drifted` in the log of the compensator names the accounts.
- `tideline_counter_sampled_at_seconds`: when the shard was last sampled. If it is older than a
  minute, no compensator runs. Without Redis both metrics are missing.
"""

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
