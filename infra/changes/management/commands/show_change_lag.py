"""`manage.py show_change_lag`: the lag of the drain, by database and lane."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.pausing import list_pauses
from infra.sharding.errors import NO_ANSWER
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases

HEADER = f"{'database':<10} {'lane':>4} {'pending':>9} {'parked':>7} {'oldest s':>9} {'paused':>9}"


class Command(BaseCommand):
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
