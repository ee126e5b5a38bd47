"""`manage.py park_changes`: sets pending changes aside by hand."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from infra.changes.choosing import FLAGS, add_choice, choice_of, walk_changes
from infra.changes.parking import list_pending, park
from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = (
        "Sets pending changes aside, with a reason, until unpark_changes or discard_changes."
        " Needs --kind, --owner, --id or --all."
    )
    unit = "changes"
    flags = FLAGS
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        add_choice(parser)
        parser.add_argument("--reason", required=True, help="why, for those who find them")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        def act(alias: str, ids: Sequence[int]) -> int:
            return park(alias, ids, options["reason"])

        return walk_changes(work, choice_of(options), list_pending, act)
