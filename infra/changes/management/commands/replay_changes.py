"""`manage.py replay_changes`: delivers delivered changes again."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from infra.changes.replay import (
    DeliveredPage,
    ReplayFilter,
    ReplayPosition,
    iter_delivered,
    replay_batch,
)
from infra.changes.selection import add_kind_and_owner
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers changes of the replay window again. Correct rows stay as they are."
    unit = "changes"
    flags = WALK - {JobFlag.ACCOUNT}
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", type=_moment, required=True, help="delivered from, ISO 8601")
        parser.add_argument("--until", type=_moment, help="delivered before, ISO 8601 (now)")
        add_kind_and_owner(parser)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        until = options["until"] or datetime.now(UTC)
        selected = ReplayFilter(options["since"], until, options["kind"], options["owner"])
        size = min(work.batch_size, settings.CHANGE_BATCH_SIZE)
        for alias, page in _pages(work, selected, size):
            failures = [] if work.dry_run else replay_batch(alias, page.rows)
            for failure in failures:
                self.stderr.write(f"{alias} #{failure.row.id}: {failure.error}")
            failed, position = len(failures), {"alias": alias, "position": page.position}
            yield Batch(len(page.rows) - failed, failed, alias, position=position)


def _pages(work: Work, selected: ReplayFilter, size: int) -> Iterator[tuple[str, DeliveredPage]]:
    """Pages of one database after the other, from the position where an earlier run stopped."""
    after = work.after or {"alias": None, "position": None}
    aliases, left = list(work.aliases), work.limit
    if after["alias"] in aliases:
        aliases = aliases[aliases.index(after["alias"]) :]
    for alias in aliases:
        position = ReplayPosition(*after["position"]) if alias == after["alias"] else None
        for page in iter_delivered(alias, selected, size, position, left):
            yield alias, page
            left = left and left - len(page.rows)
        if left == 0:
            return


def _moment(text: str) -> datetime:
    """An aware time. A time without an offset is UTC."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not an ISO 8601 time") from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
