"""`manage.py audit_edges`: compares both sides of all edges and their counts, and repairs them.

**When**: to check that both sides of all edges agree, after a restored shard, a crash, a migration,
or parked changes that were discarded. The command reads all accounts (are the counts of relations
the number of their rows?), all forward edges (does an equal backward edge exist?) and all backward
edges (does a forward edge exist; is there a follow opposite to a block?). Each difference is a
line, up to 1,000 lines, and a failed row. The exit code is 1 while a difference is left.

`--repair` repairs the differences; `--repair --dry-run` counts the repairs. For a backward edge
that is missing, older or different it appends a change of the forward edge, and the drain mirrors
it. A backward edge that is ahead is what is left of a write that the follower's shard lost when it
was restored. The forward edge is written again with the next revision, so a lost follow, unfollow
or block is in force again. A follow that may not begin now (a block, a limit) ends. With
`--restored-wins` the forward edge keeps its content, and the lost write ends on both sides; but a
lost block is kept. A follow opposite to a block is ended as `unfollow` ends it. Counts are repaired
as [`recount_counters`](counters.md#recount_counters) repairs them.

It is correct while the service writes: an edge without a pending change, whose other side is read
later, differs for good or not at all. While a change is pending, the command compares the edge
again, for two seconds. An edge whose change is still pending then is named so and counts as failed,
because the drain is behind ([`show_change_lag`](changes.md#show_change_lag)). Do not run it
together with `load_graph`, which writes both sides one after the other without changes. **Costs**:
per 500 rows one query and one to each shard of the other side. Counts read each edge's index entry
once, 10,000 a query. No locks, except the lock of one account per repair. `--account` compares the
rows that the account owns, on its shard: its forward edges and its backward edges, but not
followers that are missing among those.

```
$ manage.py audit_edges
account 45: followers is 1, rows 2
edge 44 → 45: backward edge is missing
edge 44 → 46: backward edge is ahead, an end was lost
8,987 rows done, 3 failed
$ manage.py audit_edges --repair
account 45: followers is 1, rows 2: repaired
edge 44 → 45: backward edge is missing: repaired
edge 44 → 46: backward edge is ahead, an end was lost: repaired
8,990 rows done, 3 changed, 0 failed
```

`--repair` leaves forward edges to an account that does not exist. It ends backward edges from such
an account: run [`audit_accounts --repair`](accounts.md#audit_accounts) first.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from relations.jobs.audit_edges import audit_edges, estimate_edge_audit


class Command(JobCommand):
    help = (
        "Compares forward edges, backward edges and counts. Differences that are not repaired count"
        " as failed, so the exit code is 1. --account compares the rows that the account owns."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_edge_audit(work)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_edges(work, options["repair"], self.pause, options["restored_wins"])
