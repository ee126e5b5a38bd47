"""Commands on parked changes."""

import getpass
import json
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from django.core.management import CommandError

from infra.changes.failpoints import failpoint
from infra.changes.models import ChangeState
from infra.changes.parking import (
    PAGE,
    ChangeSelection,
    UndeliveredChange,
    discard_parked,
    list_parked,
    list_undelivered_changes,
    park,
    retry_parked,
)
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, count
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import Placement
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases
from infra.verbs import DocumentedCommand


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


class ParkChanges(SelectedChangesCommand):
    """Parks pending changes, with a reason, until changes unpark or changes discard. Needs --kind,
    --owner, --id or --all.

    **When**: some pending changes must not be delivered now: those of one owner, or one change that
    brings its shard down. `--reason` is shown with them. To stop a whole kind,
    [pause](#changes-pause) it: later changes are not parked. A drain may still deliver a change
    that it has already taken. Select them as for [`changes unpark`](#changes-unpark). Audits report
    the effects of a parked change as missing. **Costs**: a scan of the undelivered rows, and one
    statement for 500 selected changes.

    ```
    $ manage.py changes park --owner 17 --reason "INC-12: half its chunks time out"
    shard1 #4712 timelines.chunk_cut of 17:
    1 changes done, 1 changed, 0 failed
    ```
    """

    name = "changes park"
    offered = ChangeState.PENDING
    reason_help = "why; shown with each change"

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return park(alias, ids, options["reason"])


class ShowParkedChanges(DocumentedCommand):
    """Lists parked changes with their error, database by database, in the order of their ids.

    **When**: [`changes lag`](#changes-lag) counts parked changes and you want to know why.
    `--kind`, `--owner` and `--shard` select changes. `--limit` (100) holds for each database.
    `--json` has the whole error. **Costs**: a query of an index of parked rows for each hundred of
    them.

    ```
    $ manage.py changes parked
    shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
    ```
    """

    name = "changes parked"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")
        add_kind_and_owner(parser)
        parser.add_argument(
            "--limit", type=count, default=PAGE, help=f"at most so many for each database ({PAGE})"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        selection = ChangeSelection(options["kind"], options["owner"])
        is_whole = True
        for alias in [options["shard"]] if options["shard"] else all_aliases():
            try:
                for change in _iter_parked(alias, options["limit"], selection):
                    row = {"alias": alias, **change._asdict()}
                    as_json = json.dumps(row, default=str)
                    self.stdout.write(as_json if options["json"] else f"{alias} {change}")
            except NO_ANSWER as error:
                self.stderr.write(f"{alias}: unreachable: {error_line(error)}")
                is_whole = False
        if not is_whole:
            sys.exit(1)


def _iter_parked(alias: str, limit: int, selection: ChangeSelection) -> Iterator[UndeliveredChange]:
    after = 0
    while limit and (rows := list_parked(alias, after, min(limit, PAGE), selection)):
        yield from rows
        after, limit = rows[-1].id, limit - len(rows)


class UnparkChanges(SelectedChangesCommand):
    """Makes parked changes pending again, with no attempts used. Needs --kind, --owner, --id or
    --all.

    **When**: the cause of parked changes is removed. It makes them pending again, with no attempts
    used, and wakes drainers. Select them by `--kind`, `--owner`, `--id` (may be repeated; needs
    `--shard`) or `--all`. Changes that fail again are parked again. **Costs**: one statement for
    500 changes, and the cost of the consumers.

    ```
    $ manage.py changes unpark --kind posts.created
    shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
    1 changes done, 1 changed, 0 failed
    ```
    """

    name = "changes unpark"
    offered = ChangeState.PARKED

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return retry_parked(alias, ids)


class DiscardChanges(SelectedChangesCommand):
    """Removes parked changes from the change table; another table keeps them with the reason. Needs
    --kind, --owner, --id or --all.

    **When**: a parked change can never be delivered. Only parked changes can be discarded;
    `--dry-run` lists them. Select them as for [`changes unpark`](#changes-unpark). `--reason` is
    required. One statement moves the row to the table `changes_discardedchange`, with its payload,
    its error, the reason and the person. Nothing deletes it there. **After it**: the effects of the
    change are missing. Run [`audit edges --repair`](relations.md#audit-edges),
    [`rebuild counters`](counters.md#rebuild-counters) or [`audit timelines
    --repair`](timelines.md#audit-timelines); after a `posts.created` also [`backfill recent-posts
    --again`](timelines.md#backfill-recent-posts). **Costs**: one statement for 500 changes.

    ```
    $ manage.py changes discard --shard shard2 --id 4711 --reason "its author was purged"
    shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
    1 changes done, 1 changed, 0 failed
    ```
    """

    name = "changes discard"
    offered = ChangeState.PARKED
    reason_help = "why; kept with each change"

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        by = f"{getpass.getuser()}@{socket.gethostname()}"
        return discard_parked(alias, ids, options["reason"], by)
