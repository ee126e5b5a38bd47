"""`manage.py rebuild_timelines`: repairs all live timelines.

**When**: [`audit_timelines`](#audit_timelines) found something, or home timelines have to equal the
posts to the last entry. It needs `--account`, `--shard` or `--all`. `--dry-run` lists up to 1,000
entries that it would add or remove. Readers notice nothing else: a timeline stays readable, and
keeps what is pushed during the run. A reader without a live timeline gets none; the next page
builds it. **Costs**: as `audit_timelines`, and two round trips per timeline that differs. `--rate`
limits the load on the shards. **Stopping it**: Ctrl-C or `kill -9`. One timeline may then have its
missing entries and still its stale ones. `--resume` goes on.

```
$ manage.py rebuild_timelines --account 17 --dry-run
account 17: + 79155897934001211936 of 2: missing
account 17: - 79155897934001213232 of 3: orphaned
1 accounts looked at, 1 would change, 0 failed
$ manage.py rebuild_timelines --all --rate 200
400 accounts done, 1 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from timelines.jobs.live_timelines import BATCH_SIZE
from timelines.jobs.rebuild_timelines import rebuild_timelines


class Command(JobCommand):
    help = (
        "Adds missing entries to live timelines and removes stale ones. Timelines stay readable."
        " Needs --account, --shard or --all. --dry-run lists the first 1,000 entries."
    )
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="repair the timelines of all accounts"
        )

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        chosen = [options["account"] is not None, options["shard"] is not None, options["all"]]
        if sum(chosen) != 1:
            raise CommandError(
                "choose the timelines with exactly one of --account, --shard and --all"
            )
        return rebuild_timelines(work)
