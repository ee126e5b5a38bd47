"""`manage.py show_moves`: all moves of buckets, the latest first.

**When**: to see all moves, the latest first: the shards, the step, what stopped it, and how long
writes waited. `--json` prints one object a line, with all figures: `copy_s`, `rows` (by the
estimate), `switch` and `undo_switch`, each with `wait_ms` (for writers that had begun), `closed_ms`
(in which writes of these accounts waited) and `changes` (handed over). **Costs**: one query.
"""

import json
from argparse import ArgumentParser
from typing import Any

from infra.command_manual import DocumentedCommand
from operations.moves.models import Move
from operations.moves.rows import buckets_of, list_moves


class Command(DocumentedCommand):
    help = "Shows all moves of buckets: what moved, which step is done, and what was measured."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        for move in list_moves():
            self.stdout.write(json.dumps(_facts(move)) if options["json"] else _line(move))


def _facts(move: Move) -> dict[str, Any]:
    return {
        "id": move.pk,
        "source": move.source,
        "target": move.target,
        "bucket_count": buckets_of(move).size,
        "route": move.route,
        "step": move.step,
        "is_finished": move.is_finished,
        "began_at": move.began_at.isoformat(),
        "stepped_at": move.stepped_at.isoformat(),
        "figures": move.figures,
    }


def _line(move: Move) -> str:
    state = "finished" if move.is_finished else "unfinished"
    switch = move.figures.get("switch", {})
    waited = f", writes waited {switch['closed_ms']:g} ms" if switch else ""
    stopped = "; stopped: " + move.figures["stopped_by"] if "stopped_by" in move.figures else ""
    return (
        f"{move}: {buckets_of(move).size} buckets, {move.route} {move.step or 'begun'} ({state}),"
        f" {move.stepped_at:%Y-%m-%d %H:%M:%S}{waited}{stopped}"
    )
