"""`manage.py show_parked_changes`: lists parked changes with their errors.

**When**: [`show_change_lag`](#show_change_lag) counts parked changes and you want to know why.
`--kind`, `--owner` and `--shard` select changes. `--limit` (100) holds for each database. `--json`
has the whole error. **Costs**: a query of an index of parked rows for each hundred of them.

```
$ manage.py show_parked_changes
shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
```
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.parking import PAGE, ChangeSelection, UndeliveredChange, list_parked
from infra.changes.selection import add_kind_and_owner
from infra.command_manual import DocumentedCommand
from infra.jobs.flags import count
from infra.sharding.errors import NO_ANSWER
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases


class Command(DocumentedCommand):
    help = "Lists parked changes with their error, database by database, in the order of their ids."

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
