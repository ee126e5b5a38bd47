"""`manage.py check_invariants`: checks that the data keeps the promises of the architecture.

**When**: from cron, after an incident, before and after a migration. It checks whether the data
keeps its promises. It runs the audits and repairs nothing: changes are drained (none parked, paused
or pending for more than `--lag-s`, 60); edges ([`audit_edges`](relations.md#audit_edges): both
sides agree, counts of relations equal their rows, a mutual follow is mutual on both sides, no
follow crosses a block); all counts ([`audit_counters`](counters.md#audit_counters)); live timelines
([`audit_timelines`](timelines.md#audit_timelines), `--share`). It prints a line for each fault;
then the exit code is 1.

`--sample 100` checks 100 random accounts of each shard and the rows they own; that takes about a
minute. Without `--sample` and without `--account`, it checks all rows. **Costs**: as the three
audits together; with `--sample` about twenty short statements per account.

```
$ manage.py check_invariants --sample 100
shard2 lane 0: 1 changes parked
account 17 FOLLOWERS: 4 -> 1
2,391 rows done, 2 failed
```
"""

import random
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, count
from infra.jobs.types import Batch, Work
from infra.sharding.placement import GLOBAL_ALIAS
from operations.jobs.check_invariants import check_drained, check_invariants, sample_invariants
from timelines.jobs.audit_timelines import parse_share

LAG_S = 60


class Command(JobCommand):
    help = (
        "Checks that changes are drained, both sides of edges agree, counts equal their rows and"
        " live timelines are complete. Prints a line for each fault; then the exit code is 1."
    )
    unit = "rows"
    flags = WALK - {JobFlag.DRY_RUN}
    batch_size = 100
    _is_default_checked = False

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--sample",
            type=count,
            metavar="ACCOUNTS",
            help="random accounts of each shard (all)",
        )
        parser.add_argument(
            "--share",
            type=parse_share,
            default=1.0,
            help="random part of the live timelines to check, such as 0.01 (all)",
        )
        parser.add_argument(
            "--lag-s", type=count, default=LAG_S, help=f"seconds a change may wait ({LAG_S})"
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        sample = options["sample"]
        # Once a run, with the first of its shards.
        others = () if self._is_default_checked else (GLOBAL_ALIAS,)
        self._is_default_checked = True
        drained = partial(check_drained, options["lag_s"], others)
        if sample is not None and work.account_id is None:
            checks = sample_invariants(work, drained, sample, random.random, self.pause)
        else:
            checks = check_invariants(work, drained, options["share"], self.pause)
        return checks
