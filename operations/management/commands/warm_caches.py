"""`manage.py warm_caches`: loads cache entries of hot authors before pages need them.

**When**: after Redis was flushed or replaced, before many readers come back. For every hot author
(or one `--account`) it writes what Redis lacks of the profile, the counts, the posts of this week
and the last, and the hot-author entries. These are the entries that many requests would miss in the
same moment. `--dry-run` names the keys. Entries of other accounts are written by their first
reader. Before an announced event name those who will be looked at: `warm_caches --event 7 --event
8` loads the entries of these accounts, hot or not. **Costs**: a query and a round trip per 100 hot
authors, and for missing entries what their first reader would pay. **Stopping it**: Ctrl-C or `kill
-9`. Run it again; entries that exist are skipped.

```
$ manage.py warm_caches
37 accounts done, 148 changed, 0 failed
```
"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError
from redis.exceptions import RedisError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, count
from infra.jobs.types import Batch, Work
from operations.jobs.warm_caches import warm_caches


class Command(JobCommand):
    help = (
        "Loads profile, counts, recent posts and hot-author entries of every hot author, or of one"
        " --account, or of those of an announced event, where Redis does not have them."
    )
    unit = "accounts"
    flags = WALK
    batch_size = 100

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--event",
            type=count,
            metavar="ID",
            action="append",
            default=[],
            help="only this account, hot or not; may be repeated",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        try:
            yield from warm_caches(work, time.time(), options["event"])
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
