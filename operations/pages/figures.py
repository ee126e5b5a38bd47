"""Pages that only show figures.

The operations page: charts of the last hour, and the queries that run long now.

The page is empty. Its script reads the two JSON endpoints every few seconds.

The page of hot keys: the Redis keys that all processes together read most.

The page of moves of buckets: how far the one is that is not finished, and all others.
"""

import time
from functools import partial
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from infra.api.rendering import json_response
from infra.caching.fleet_reads import WINDOW_S, list_read_rates
from infra.sharding.probe import error_line, probe_all
from infra.sharding.shards import all_aliases
from operations.moves.metrics import slot_calls
from operations.moves.models import Move
from operations.moves.route import ROUTES
from operations.moves.rows import buckets_of, list_moves
from operations.moves.types import MoveRoute
from operations.queries.charts import read_charts
from operations.samples import SLOT_S, list_slow
from operations.site import page_context


@require_safe
def show_operations(request: HttpRequest) -> HttpResponse:
    context = page_context(request, "Live charts") | {"every_s": SLOT_S}
    return render(request, "operations/charts.html", context)


@require_safe
def answer_charts(_request: HttpRequest) -> HttpResponse:
    """`{"times": …, "charts": …}`, or `{"problem": …}`. Cost: two round trips."""
    try:
        return _json(read_charts(time.time()))
    except RedisError as error:
        return _json({"problem": f"Redis does not answer: {error_line(error)}"})


@require_safe
def answer_now(_request: HttpRequest) -> HttpResponse:
    """`{"databases": [{"name", "problem", "queries": [SlowQuery]}]}`.

    Cost: one query a database, in parallel.
    """
    calls = {alias: partial(_list_slow, alias) for alias in all_aliases()}
    databases = [
        {"name": alias, "problem": answer.problem, "queries": answer.value or []}
        for alias, answer in probe_all(calls).items()
    ]
    return _json({"databases": databases})


def _list_slow(alias: str) -> list[dict[str, Any]]:
    return [statement._asdict() for statement in list_slow(alias)]


def _json(body: object) -> HttpResponse:
    return json_response(msgspec.json.encode(body))


@require_safe
def show_hot_keys(request: HttpRequest) -> HttpResponse:
    """Cost: one round trip."""
    try:
        warm, is_away = list_read_rates(time.time()), False
    except RedisError:
        warm, is_away = [], True
    context = page_context(request, "Hot keys") | {
        "warm": warm,
        "is_away": is_away,
        "hot_from": settings.HOT_KEY_READS,
        "copy_ms": settings.HOT_COPY_MS,
        "window_s": WINDOW_S,
    }
    return render(request, "operations/hot_keys.html", context)


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
