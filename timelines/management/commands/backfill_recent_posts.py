"""`manage.py backfill_recent_posts`: fills recent-posts indexes from the posts.

**When**: with every new release, after `migrate_shards`; and for a new shard, once all processes
know it. It fills the recent-posts index of every shard that has none yet, from the posts of all
shards. At the end it sets the low-water mark. Until then home pages are pulled from the posts
tables: slower, but right. `--shard` names the shard to fill. `--again` also fills a complete index:
after a parked `posts.created` or `timelines.shard_missed` was discarded. No process reads that
index until the run ends. With `RECENT_INDEX=by_author` each shard gets the posts of its own
accounts. It is also a step [from there back to
`replicated`](../../how-to/choose-a-recent-posts-index.md#change-it-while-the-service-runs).
**Costs**: per 500 accounts one query on their shard, and one statement per shard filled. Nothing if
all are complete. **Stopping it**: Ctrl-C or `kill -9`; `--resume` goes on. A run with `--limit`
does not set the mark.

```
$ manage.py backfill_recent_posts
3,959 accounts done, 18,704 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from timelines.jobs.backfill_recent_posts import backfill_recent_posts


class Command(JobCommand):
    help = (
        "Fills the recent-posts index of shards that have none yet, from the posts of all shards."
        " --shard: fill the index of this shard only."
    )
    unit = "accounts"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="fill complete indexes too")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index needs the posts of all shards, and one walk fills all indexes."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_recent_posts(work, options["again"])
