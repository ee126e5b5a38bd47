"""`manage.py rebuild_relation_caches`: replaces cached lists that differ from the rows.

**When**: pages show other lists than the shards have, because Redis kept data that it must not keep
(see [Redis](../../how-to/set-up-redis.md)), or was not flushed after a shard was restored. The
command compares the cached following, quiet and followers lists of accounts with the rows. It names
the lists that differ, replaces them in one step, and drops cached relationships. To drop
everything, flush Redis instead. **Costs**: two round trips for 500 accounts. For each cached list a
round trip that reads the whole list, and two queries. `--rate` limits the load of the shards. The
next read of a dropped relationship costs two queries.

```
$ manage.py rebuild_relation_caches --account 44
account 44: relations.following:v1
account 44: relations.relationship:v2
1 accounts done, 2 changed, 0 failed
```
"""

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
