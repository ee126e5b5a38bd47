"""Commands on parked changes."""

import getpass
import json
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import (
    PAGE,
    ChangeSelection,
    UndeliveredChange,
    discard_parked,
    list_parked,
    park,
    retry_parked,
)
from infra.changes.selection import SelectedChangesCommand, add_kind_and_owner
from infra.command_manual import DocumentedCommand
from infra.jobs.flags import count
from infra.sharding.errors import NO_ANSWER
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases


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
