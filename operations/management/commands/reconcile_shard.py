"""`manage.py reconcile_shard`: all steps after a shard was restored to an earlier moment."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import JobFlag, parse_moment
from infra.jobs.types import Batch, Work
from operations.jobs.reconcile_shard import Restored, reconcile_shard


class Command(JobCommand):
    help = (
        "Brings a shard that was restored from a backup back into agreement with the other"
        " databases, and names what was lost, by account."
    )
    unit = "rows"
    flags = frozenset(
        {JobFlag.SHARD, JobFlag.DRY_RUN, JobFlag.BATCH_SIZE, JobFlag.RATE, JobFlag.RESUME}
    )

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", type=parse_moment, required=True, help="when the backup began, ISO 8601"
        )
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: it compares the shard with all others."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if options["shard"] is None:
            raise CommandError("--shard is required")
        if options["since"] > datetime.now(UTC):
            raise CommandError("--since is in the future")
        restored = Restored(options["shard"], options["since"], options["restored_wins"])
        return reconcile_shard(work, restored, self.pause)

    def _line_writer(self, options: dict[str, Any]) -> Callable[[str], None]:
        """All lines, each once: several databases know of one lost post."""
        write = self.stderr.write if options["json"] else self.stdout.write
        written: set[str] = set()

        def write_once(line: str) -> None:
            if line not in written:
                written.add(line)
                write(line)

        return write_once
