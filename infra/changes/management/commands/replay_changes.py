"""`manage.py replay_changes`: delivers changes again that were delivered before."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from infra.changes.replay import ReplayFilter, iter_delivered, replay_batch
from infra.jobs.command import JobCommand
from infra.jobs.flags import Flag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers changes of the replay window again; what was right stays as it is."
    unit = "changes"
    flags = frozenset({Flag.SHARD, Flag.DRY_RUN, Flag.BATCH_SIZE, Flag.RATE})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", type=_moment, required=True, help="delivered from, ISO 8601")
        parser.add_argument("--until", type=_moment, help="delivered before, ISO 8601 (now)")
        parser.add_argument("--kind", help="only this kind, for example posts.created")
        parser.add_argument("--owner", type=int, metavar="ACCOUNT", help="only this owner's")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        until = options["until"] or datetime.now(UTC)
        chosen = ReplayFilter(options["since"], until, options["kind"], options["owner"])
        size = min(work.batch_size, settings.CHANGE_BATCH_SIZE)
        for alias in work.aliases:
            for rows in iter_delivered(alias, chosen, size):
                failures = [] if work.dry_run else replay_batch(alias, rows)
                for failure in failures:
                    self.stderr.write(f"{alias} #{failure.row.id}: {failure.error}")
                yield Batch(len(rows) - len(failures), len(failures), alias)


def _moment(text: str) -> datetime:
    """An aware time; one without an offset is UTC."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not an ISO 8601 time") from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
