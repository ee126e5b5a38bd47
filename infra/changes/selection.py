"""What commands over chosen changes share: how people choose them, and the walk over those."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from django.core.management import CommandError

from infra.changes.failpoints import failpoint
from infra.changes.models import ChangeState
from infra.changes.parking import ChangeSelection, list_changes
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.placement import Placement


class SelectedChangesCommand(JobCommand):
    """Subclasses say what they offer, what they do to it, and, if they ask a reason, what it is."""

    offered: ClassVar[ChangeState]
    reason_help: ClassVar[str] = ""
    unit = "changes"
    # An owner's changes may be on several databases, so --account would look at one too few.
    flags = WALK - {JobFlag.ACCOUNT}
    placement = Placement.EVERYWHERE

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        """Does it to these changes; returns how many it changed."""
        raise NotImplementedError

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        add_kind_and_owner(parser)
        ids_help = "this one of --shard; may be repeated"
        parser.add_argument("--id", type=int, action="append", metavar="N", help=ids_help)
        parser.add_argument("--all", action="store_true", help="whatever kind and owner")
        if self.reason_help:
            parser.add_argument("--reason", required=True, help=self.reason_help)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        act = partial(self.act, options=options)
        return walk_changes(work, self.offered, read_selection(options), act)


def add_kind_and_owner(parser: ArgumentParser) -> None:
    parser.add_argument("--kind", help="only this kind, for example posts.created")
    parser.add_argument("--owner", type=int, metavar="ACCOUNT", help="only this owner's")


def read_selection(options: Mapping[str, Any]) -> ChangeSelection:
    """What the flags choose. Raises: CommandError, when nothing does or ids lack their database."""
    choice = ChangeSelection(options["kind"], options["owner"], options["id"])
    if options["all"] == (choice != ChangeSelection()):
        raise CommandError("--kind, --owner, --id or --all says which changes are meant")
    if choice.ids is not None and options["shard"] is None:
        raise CommandError("ids are counted by each database: --id needs --shard")
    return choice


def walk_changes(
    work: Work,
    state: ChangeState,
    choice: ChangeSelection,
    act: Callable[[str, Sequence[int]], int],
) -> Iterator[Batch]:
    """Does something to the changes chosen, batch by batch, in id order; a line for each.

    `act(alias, ids)` returns how many it changed; in a dry run it is not called.
    """

    def read(alias: str, after: Key | None, count: int) -> list[Row]:
        return [*list_changes(alias, state, after[0] if after else 0, count, choice)]

    for alias, rows, position in walk(work, read):
        ids = [row[0] for row in rows]
        failpoint("parking.batch_selected")
        changed = len(ids) if work.dry_run else act(alias, ids)
        failpoint("parking.batch_changed")
        lines = [f"{alias} {row}" for row in rows]
        yield Batch(len(ids), 0, alias, changed, position, lines)
