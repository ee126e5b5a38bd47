"""Commands that do something to selected changes: their flags, and the walk over the changes."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from django.core.management import CommandError

from infra.changes.failpoints import failpoint
from infra.changes.models import ChangeState
from infra.changes.parking import ChangeSelection, list_undelivered_changes
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.placement import Placement


class SelectedChangesCommand(JobCommand):
    """A subclass sets the state of its changes (`offered`), and what it does to them (`act`).

    `reason_help`: the help of --reason, for commands that need a reason.
    """

    offered: ClassVar[ChangeState]
    reason_help: ClassVar[str] = ""
    unit = "changes"
    # The changes of one owner may be on several databases, so there is no --account.
    flags = WALK - {JobFlag.ACCOUNT}
    placement = Placement.EVERYWHERE

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        """Does the work of the command to these changes; returns how many it changed."""
        raise NotImplementedError

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        add_kind_and_owner(parser)
        ids_help = "this one of --shard; may be repeated"
        parser.add_argument("--id", type=int, action="append", metavar="N", help=ids_help)
        parser.add_argument("--all", action="store_true", help="all kinds and owners")
        if self.reason_help:
            parser.add_argument("--reason", required=True, help=self.reason_help)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        act = partial(self.act, options=options)
        return walk_changes(work, self.offered, read_change_selection(options), act)


def add_kind_and_owner(parser: ArgumentParser) -> None:
    parser.add_argument("--kind", help="only this kind, for example posts.created")
    parser.add_argument("--owner", type=int, metavar="ACCOUNT", help="only this owner's")


def read_change_selection(options: Mapping[str, Any]) -> ChangeSelection:
    """The selection of the flags. Raises: CommandError without any, or for ids without --shard."""
    selection = ChangeSelection(options["kind"], options["owner"], options["id"])
    if options["all"] == (selection != ChangeSelection()):
        raise CommandError("select changes by --kind, --owner, --id or --all")
    if selection.ids is not None and options["shard"] is None:
        raise CommandError("each database has its own ids: --id needs --shard")
    return selection


def walk_changes(
    work: Work,
    state: ChangeState,
    selection: ChangeSelection,
    act: Callable[[str, Sequence[int]], int],
) -> Iterator[Batch]:
    """Calls `act(alias, ids)` for the selected changes, batch by batch, in id order.

    `act` returns how many changes it changed. A dry run does not call it. Each change is a line.
    """

    def read(alias: str, after: Key | None, count: int) -> list[Row]:
        return [*list_undelivered_changes(alias, state, after[0] if after else 0, count, selection)]

    for alias, rows, position in walk(work, read, owner_at=None):
        ids = [row[0] for row in rows]
        failpoint("parking.batch_selected")
        changed = len(ids) if work.dry_run else act(alias, ids)
        failpoint("parking.batch_changed")
        lines = [f"{alias} {row}" for row in rows]
        yield Batch(len(ids), 0, alias, changed, position, lines)
