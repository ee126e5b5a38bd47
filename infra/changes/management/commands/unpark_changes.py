"""`manage.py unpark_changes`: parked changes are tried again."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.choosing import FLAGS, add_choice, choice_of, walk_changes
from infra.changes.parking import list_parked, retry_parked
from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = (
        "Puts parked changes back into the queue, as if they had not been tried."
        " Needs --kind, --owner, --id or --all."
    )
    unit = "changes"
    flags = FLAGS
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        add_choice(parser)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return walk_changes(work, choice_of(options), list_parked, retry_parked)
