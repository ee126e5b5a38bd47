"""`manage.py pause_changes`: pauses one kind of change until resume_changes."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.changes.pausing import list_pauses, pause_kind
from infra.changes.registry import kinds
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Pauses one kind of change: its changes wait until resume_changes, all others go on."
    unit = "databases"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", required=True, help="for example posts.created")
        parser.add_argument("--reason", required=True, help="why; show_change_lag shows it")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        kind, reason = options["kind"], options["reason"]
        if kind not in kinds():
            raise CommandError(f"{kind!r} is no kind of change: {', '.join(sorted(kinds()))}")
        for alias in work.aliases:
            if work.dry_run:
                before = {(p.kind, p.reason) for p in list_pauses(alias) if not p.is_ending}
                is_new = (kind, reason) not in before
            else:
                is_new = pause_kind(alias, kind, reason)
            lines = [f"{alias}: {kind} paused"] if is_new else []
            yield Batch(1, 0, alias, int(is_new), details=lines)
