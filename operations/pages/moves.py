"""The page of moves of buckets: how far the one is that is not finished, and all others."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from infra.sharding.probe import probe_all
from operations.moves.models import Move
from operations.moves.progress import slot_calls
from operations.moves.route import ROUTES
from operations.moves.rows import buckets_of, list_moves
from operations.moves.types import MoveRoute
from operations.site import page_context


@require_safe
def show_moves(request: HttpRequest) -> HttpResponse:
    """Cost: one query; one on both shards while a move is not finished."""
    moves = list_moves()
    context = {
        "moves": [_row(move) for move in moves],
        "current": [_progress(move) for move in moves if not move.is_finished],
    }
    return render(request, "operations/moves.html", page_context(request, "Moves") | context)


def _row(move: Move) -> dict[str, Any]:
    switch = move.figures.get("switch", {})
    return {
        "move": move,
        "buckets": buckets_of(move).size,
        "rows": move.figures.get("rows"),
        "waited_ms": switch.get("closed_ms"),
    }


def _progress(move: Move) -> dict[str, Any]:
    """`steps`: of its route, each with whether it is done."""
    names = list(ROUTES[MoveRoute(move.route)])
    done = names.index(move.step) + 1 if move.step else 0
    return {
        "move": move,
        "steps": [(name.replace("_", " "), place < done) for place, name in enumerate(names)],
        "slots": probe_all(slot_calls(move)).values(),
    }
