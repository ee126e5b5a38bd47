"""`manage.py show_change_lag`: the lag of the drain, by database and lane.

**When**: to see whether the drain keeps up, and whether changes are parked or paused. **Costs**:
one query for each database, of undelivered rows only.

```
$ manage.py show_change_lag --shard shard2
database   lane   pending  parked  oldest s    paused
shard2        0         0       1       0.0         0
shard2        1         3       0       0.4        12
shard2       64        11       0      17.2         0
shard2       65         0       0       0.0         0
shard2      128         0       0       0.0         0
shard2      192         0       0       0.0         0
shard2: relations.mute_changed paused, since 2026-11-21 20:40:11 UTC: INC-12, forget_relationships fails
```

- `paused` counts rows of [paused kinds](#pause_changes). `pending` does not include them. Each
  paused kind has a line at the end.
- [Lanes](../../explanation/changes.md#lanes) 64 to 127 carry large fan-outs: at most eleven rows
  for each author and batch of posts, of `CHUNK_FOLLOWERS` followers each. `oldest s` starts again
  with every ten chunks. Lane 128 waits for a shard, lane 192 is drained once a second.
- Ordinary lanes should stay near 0. If they do not, the worker is busy: divide the databases
  between several (`--shard`).
- A database that does not answer has a line on standard error: `shard1: unreachable: connection
  failed: …`.

An author with `HOT_FOLLOWERS` becomes hot with the next post (`author.heated` in the log of the
worker). Every ten minutes the compensator looks for hot authors below 0.8 of it (`author.cooled`);
a bulk lane then removes the live timelines of their followers, a thousand a row. Both hold after
you change the setting, too.

`--json` prints one object a line, for scripts.
"""  # noqa: E501

import json
import sys
from argparse import ArgumentParser
from typing import Any

from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.pausing import list_pauses
from infra.command_manual import DocumentedCommand
from infra.sharding.errors import NO_ANSWER
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases

HEADER = f"{'database':<10} {'lane':>4} {'pending':>9} {'parked':>7} {'oldest s':>9} {'paused':>9}"


class Command(DocumentedCommand):
    help = (
        "Shows pending, parked and paused changes by database and lane, the age of the oldest"
        " pending change, and the paused kinds with time and reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["json"]:
            self.stdout.write(HEADER)
        aliases = [options["shard"]] if options["shard"] else all_aliases()
        are_shown = {alias: self._show(alias, options["json"]) for alias in aliases}
        if not all(are_shown.values()):
            sys.exit(1)

    def _show(self, alias: str, as_json: bool) -> bool:
        """False: the database does not answer."""
        try:
            lags, all_paused = list_lane_lags(alias), list_pauses(alias)
        except NO_ANSWER as error:
            self.stderr.write(f"{alias}: unreachable: {error_line(error)}")
            return False
        for lag in lags:
            self.stdout.write(json.dumps(lag._asdict()) if as_json else _line(lag))
        for paused in all_paused:
            row = {"alias": alias, **paused._asdict()}
            as_text = f"{alias}: {paused}"
            self.stdout.write(json.dumps(row, default=str) if as_json else as_text)
        return True


def _line(lag: LaneLag) -> str:
    rows = f"{lag.pending:>9} {lag.parked:>7} {lag.oldest_s:>9.1f} {lag.paused:>9}"
    return f"{lag.alias:<10} {lag.lane:>4} {rows}"
