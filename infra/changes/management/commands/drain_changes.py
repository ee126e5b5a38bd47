"""`manage.py drain_changes`: delivers pending changes now, without a drainer.

**When**: to deliver pending changes now, for example without a worker. `--lane N` drains one lane.
Without Redis, changes whose consumers write to it stay pending. `--dry-run` lists the due changes
by lane and kind and takes no lease. It leaves out rows that back off after a failure, and follow-up
changes of the deliveries. **Costs**: the cost of the consumers. A lane that a drainer holds is
skipped.

```
$ manage.py drain_changes --shard shard0 --dry-run
shard0 lane 1: 12 posts.created would be delivered, the oldest waits for 41.7 s
shard0 lane 1: 3 posts.marked would move to the paused lane: the kind is paused, the oldest waits for 2.0 s
15 changes looked at, 15 would change, 0 failed
```
"""  # noqa: E501

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.compensate import compensate, dry_run_batch
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers pending changes once, lane by lane, until none is due."
    unit = "changes"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lane", type=int, help="only this lane")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        for alias in work.aliases:
            if work.dry_run:
                yield dry_run_batch(alias, options["lane"])
                continue
            for report in compensate(alias, options["lane"]):
                yield Batch(report.delivered, report.failed, alias)
