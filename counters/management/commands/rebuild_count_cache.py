"""`manage.py rebuild_count_cache`: makes the caches of counts equal to the counts.

**When**: pages show other counts than the shards have, because Redis kept entries that it should
have lost (see [Redis](../../how-to/set-up-redis.md)), or was not flushed after a shard was
restored. The command compares the cached counts of accounts and posts with their counts and
replaces wrong entries, also those with a higher version. It adds no entries; readers load them. If
the counts themselves are wrong, use [`recount_counters`](#recount_counters). **Costs**: one query
for 500 accounts and posts, and a query and a round trip for each cache.

```
$ manage.py rebuild_count_cache --dry-run
counters.account:v4:{17}: 9,9,9,9,9,20000 -> 1,1,0,0,0,0
846 subjects looked at, 1 would change, 0 failed
```
"""

from collections.abc import Iterator
from typing import Any

from counters.jobs.rebuild_count_cache import rebuild_count_cache
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Compares cached counts of accounts and posts with the counts, replaces wrong ones."
    unit = "subjects"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return rebuild_count_cache(work)
