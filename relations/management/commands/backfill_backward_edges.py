"""`manage.py backfill_backward_edges`: writes backward edges from forward edges.

**When**: a migration imported forward edges (follows, blocks) and nothing else. The command writes
the backward edges that are missing or older than their forward edge, and the follower counts.
Following counts that are missing too are for [`recount_counters`](counters.md#recount_counters),
before or after it. `--shard` and `--account` select by follower. `--dry-run` counts the missing and
older edges. The service and the drain may run at the same time: an older revision never replaces a
newer one. **Costs**: per 500 forward edges and shard of followees three queries and three round
trips. Where an edge is missing, six statements more, and a lock on the followees for that time.
`--rate` limits the load of the shards. The cached relationships of all pairs it reads are dropped.
**Stopping it**: Ctrl-C or `kill -9`; `--resume` continues. It ends when Redis is away: resume it
then.

```
$ manage.py backfill_backward_edges --dry-run
4,295 forward edges looked at, 4,295 would change, 0 failed
$ manage.py backfill_backward_edges
4,295 forward edges done, 4,295 changed, 0 failed
```

Edges to accounts that do not exist are failed rows. They are named, and nothing is written for
them.
"""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from relations.jobs.backfill_backward_edges import backfill_backward_edges
from relations.jobs.edge_sightings import FORWARD


class Command(JobCommand):
    help = (
        "Writes backward edges and follower counts that are missing or older than their forward"
        " edge. --shard and --account select by follower."
    )
    unit = "forward edges"
    flags = WALK

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, FORWARD)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_backward_edges(work)
