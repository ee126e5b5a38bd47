"""`manage.py add_shard`: a new shard, without a restart of any process."""

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
