"""`manage.py discard_changes`: takes parked changes out of the queue for good."""

import getpass
import socket
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from infra.changes.choosing import FLAGS, add_choice, choice_of, walk_changes
from infra.changes.parking import discard_parked, list_parked
from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = (
        "Takes parked changes out of the queue for good; they are kept with the reason."
        " Needs --kind, --owner, --id or --all."
    )
    unit = "changes"
    flags = FLAGS
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        add_choice(parser)
        parser.add_argument("--reason", required=True, help="why; kept with each change")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        by = f"{getpass.getuser()}@{socket.gethostname()}"

        def act(alias: str, ids: Sequence[int]) -> int:
            return discard_parked(alias, ids, options["reason"], by)

        return walk_changes(work, choice_of(options), list_parked, act)
