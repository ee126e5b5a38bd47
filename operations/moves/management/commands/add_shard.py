"""`manage.py add_shard`: a new shard, without a restart of any process.

**When**: the site needs another shard. `add_shard shard4` takes its URL from the file `shard4` in
`SHARD_URLS_DIR`, and refuses a database that is in use, wrong or has another schema. Then it
creates the tables and the identity, puts the shard on the list in the default database, and raises
the number of the bucket map. It ends the idle sessions of workers, compensators and commands on all
other shards, and waits until none is older than the list. They connect again, and read map and
list. Then it fills the recent-posts index and sets its low-water mark. Sessions of web servers
(`application_name` `tideline-web`) go on. They read the list with their next connection, at the
latest by the first move. `--dry-run` only checks. [How to add a
shard](../../how-to/add-a-shard.md).

**Costs**: workers connect to each shard again; `backfill_recent_posts` reads the newest days' posts
of all accounts. **Stopping it**: at any place; run it again.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from operations.moves.command import MoveCommand
from operations.moves.new_shard import add_shard, check_new_shard


class Command(MoveCommand):
    help = (
        "Adds a shard while people read and write: checks and migrates its database, tells all"
        " processes, and fills its recent-posts index. It has no accounts until move_buckets."
    )
    flags = frozenset({JobFlag.DRY_RUN})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = "the next shard, such as shard4; the file of this name in SHARD_URLS_DIR has its URL"
        parser.add_argument("name", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        alias = options["name"]
        is_listed = check_new_shard(alias)
        what = "is on the list already; what is left is done" if is_listed else "can be added"
        yield Batch(0, details=[f"{alias} {what}"])
        if not work.dry_run:
            yield from add_shard(alias)
