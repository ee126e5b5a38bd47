"""`manage.py vacuum_timelines`: removes stale entries from live timelines.

**When**: seldom; many posts were deleted, or an author with many followers is gone, and pages of
readers who seldom come should not load these entries. It removes the stale entries (see
[`audit_timelines`](#audit_timelines)) of live timelines in which their share is above
`--stale-ratio` (a quarter). It adds nothing. Without `--account` it first deletes the expired rows
of the stores `postgres` and `tiered`. The compensator does that too: 500 timelines per shard in ten
minutes. **Costs**: as `audit_timelines`, and one round trip per timeline that is written.

```
$ manage.py vacuum_timelines
account 17: 140 of 420 entries are stale
400 accounts done, 1 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.audit_timelines import parse_share
from timelines.jobs.live_timelines import BATCH_SIZE
from timelines.jobs.vacuum_timelines import STALE_RATIO, vacuum_timelines


class Command(JobCommand):
    help = (
        "Removes stale entries from live timelines that have many: entries of deleted posts, of"
        " authors no longer followed, and below the low-water mark."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--stale-ratio",
            type=parse_share,
            default=STALE_RATIO,
            help=f"write timelines with more than this share of stale entries ({STALE_RATIO})",
        )

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return vacuum_timelines(work, options["stale_ratio"])
