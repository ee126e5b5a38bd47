"""`manage.py audit_recent_posts`: compares recent-posts indexes with posts, and repairs them.

**When**: to check the recent-posts index of each shard, or of one `--shard`: after a shard was
restored, or changes were discarded. It reads the index (does each post have a row on its shard?)
and the posts above the low-water mark (does the index have them? With `RECENT_INDEX=by_author` the
posts of its own accounts). A row of a deleted post is no difference: readers skip it until its day
is dropped. `--repair` ends what is derived from lost posts, and adds what is missing. **Costs**:
for 500 rows one query, and one on each shard of their authors. The posts of all shards are read.

```
$ manage.py audit_recent_posts --shard shard2
account 17: post 80389081244517729552 was lost
account 45: post 80389081244517729999 is not in the index of shard2
22,663 rows done, 2 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from timelines.jobs.audit_recent_posts import audit_recent_posts


class Command(JobCommand):
    help = (
        "Compares the recent-posts index of each shard with the posts of all shards. Differences"
        " that are not repaired count as failed, so the exit code is 1. --shard: this index only."
    )
    unit = "rows"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index has the posts of all shards."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_recent_posts(work, options["repair"], self.pause)
