"""Commands that compare counts with their rows, and cached counts with counts."""

from counters.jobs.drifting_counts import BATCH_SIZE, audit_counters, recount_counters
from counters.jobs.rebuild_count_cache import rebuild_count_cache
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag


class AuditCounters(JobCommand):
    """Compares every count with its rows. Prints differences; the exit code is then 1.

    **When**: to check that every count equals its rows, for example after a crash, after a shard
    was restored, or with a new release. Each count that differs is a line, and the exit code is
    then 1. Writes go on: one statement reads the counts and rows of a batch of accounts in one
    snapshot, so a difference is drift and never a write in progress. Repair it with
    [`rebuild counters`](#rebuild-counters). **Costs**: two queries for 100 accounts, no lock. The
    second query reads an index entry for each counted row. An account with more than 20 million
    followers exceeds the 20 s of a statement. With a [replica](../../how-to/use-read-replicas.md)
    the second query goes there, unless it takes longer than half a second.

    ```
    $ manage.py audit counters
    account 17 FOLLOWERS: 4 -> 1
    399 accounts done, 1 failed
    ```

    The compensator always does the same for a sample: every ten seconds it checks 20 accounts of
    each shard after a random place, and the accounts that were found wrong before. Larger accounts
    are left to this command. `/metrics` has, by shard:

    - `tideline_counter_drift`: counts that were found wrong and still are. A value above 0 means a
      bug, or a database that lost data. `counters.drifted` in the log of the compensator names the
      accounts.
    - `tideline_counter_sampled_at_seconds`: when the shard was last sampled. If it is older than a
      minute, no compensator runs. Without Redis both metrics are missing.
    """

    name = "audit counters"
    unit = "accounts"
    flags = WALK - {JobFlag.DRY_RUN}
    batch_size = BATCH_SIZE
    job = staticmethod(audit_counters)


class RecountCounters(JobCommand):
    """Compares every count with its rows and repairs those that differ, while others write.

    **When**: [`audit counters`](#audit-counters) found differences. It adds the difference to each
    wrong count. `--dry-run` prints the same lines and changes nothing. It is exact while others
    write, and no write waits for it. A change (`counters.repaired`) refreshes the caches, also when
    the command dies after a commit. **Costs**: as `audit counters`, and a transaction of five
    statements for each account and wrong count. A repaired count has a new version, so lists and
    home timelines with the old version are read again from the source.

    ```
    $ manage.py rebuild counters --dry-run
    account 17 FOLLOWERS: 4 -> 1
    400 accounts looked at, 1 would change, 0 failed
    $ manage.py rebuild counters
    account 17 FOLLOWERS: 4 -> 1
    400 accounts done, 1 changed, 0 failed
    ```
    """

    name = "rebuild counters"
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE
    job = staticmethod(recount_counters)


class RebuildCountCache(JobCommand):
    """Compares cached counts of accounts and posts with the counts, replaces wrong ones.

    **When**: pages show other counts than the shards have, because Redis kept entries that it
    should have lost (see [Redis](../../how-to/set-up-redis.md)), or was not flushed after a shard
    was restored. The command compares the cached counts of accounts and posts with their counts and
    replaces wrong entries, also those with a higher version. It adds no entries; readers load them.
    If the counts themselves are wrong, use [`rebuild counters`](#rebuild-counters). **Costs**: one
    query for 500 accounts and posts, and a query and a round trip for each cache.

    ```
    $ manage.py rebuild count-cache --dry-run
    counters.account:v4:{17}: 9,9,9,9,9,20000 -> 1,1,0,0,0,0
    846 subjects looked at, 1 would change, 0 failed
    ```
    """

    name = "rebuild count-cache"
    unit = "subjects"
    flags = WALK
    job = staticmethod(rebuild_count_cache)
