"""`manage.py audit_timelines`: finds entries that live timelines lack.

**When**: to find out whether live home timelines are complete: after Redis came back with old data,
after parked changes were discarded, with a new release. For each reader with a live timeline it
compares the entries from the low-water mark up with the posts tables. Readers whose timelines lack
entries are listed and count as failed, so the exit code is 1. `--share 0.01` compares a random
hundredth of the timelines. `--repair` adds the missing entries, as
[`rebuild_timelines`](#rebuild_timelines) does. A timeline that lacks more than it can hold is
dropped; its reader's next page builds it.

The result is right while the service writes. An entry is missing if no pending change could bring
it; a post whose change was parked is missing. A reader whose following list is changing is skipped.
*Orphaned* entries are of deleted posts, or of authors who are not followed any more. Entries *below
the mark* are read by no page. Both are stale, and no fault: pages leave them out. If a missing
entry comes back after a repair, the author's side of the follow is missing: run [`audit_edges
--repair`](relations.md#audit_edges). **Costs**: one query and one round trip per 100 accounts; one
round trip and one query on every shard per live timeline compared, and twice that if entries are
missing. `--rate` counts all accounts, live or not. The audit does not extend the life of a
timeline.

```
$ manage.py audit_timelines
account 17: 2 missing, 1 orphaned, 0 below the mark
399 accounts done, 1 failed
$ manage.py audit_timelines --repair
account 17: 2 missing, 1 orphaned, 0 below the mark: repaired
400 accounts done, 1 changed, 0 failed
```

The compensator always does the same with samples. Every ten seconds it compares one random live
timeline of each shard, and the timelines in which it found missing entries before. `/metrics` of
any web process shows, by shard:

- `tideline_timeline_holes`: entries that samples found missing, and that are still missing. More
  than 0 means a bug, or a Redis that lost a write. `timelines.holes_found` in the compensator's log
  names the readers.
- `tideline_timeline_sampled_at_seconds`: if it is older than a minute, no compensator runs or a
  shard is down. Without Redis there are no such metrics.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.audit_timelines import audit_timelines, parse_share
from timelines.jobs.live_timelines import BATCH_SIZE


class Command(JobCommand):
    help = (
        "Compares live timelines with the posts of their readers' followees. A timeline that lacks"
        " entries counts as failed, so the exit code is 1."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--share",
            type=parse_share,
            default=1.0,
            help="share of the live timelines to compare, chosen at random: 0.01 (all)",
        )
        parser.add_argument("--repair", action="store_true", help="add the missing entries")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_timelines(work, options["share"], options["repair"])
