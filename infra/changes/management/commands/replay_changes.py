"""`manage.py replay_changes`: delivers delivered changes again."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from infra.changes.replay import ReplayFilter, replay
from infra.changes.selection import add_kind_and_owner
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, parse_moment
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers changes of the last CHANGE_REPLAY_DAYS again. Correct rows stay as they are."
    unit = "changes"
    flags = WALK - {JobFlag.ACCOUNT}
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", type=parse_moment, required=True, help="delivered from, ISO 8601"
        )
        parser.add_argument("--until", type=parse_moment, help="delivered before, ISO 8601 (now)")
        add_kind_and_owner(parser)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        until = options["until"] or datetime.now(UTC)
        selected = ReplayFilter(options["since"], until, options["kind"], options["owner"])
        return replay(work, selected)
