"""The operations page: charts of the last hour, and the queries that run long now.

The page is empty. Its script reads the two JSON endpoints every few seconds.
"""

import time
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from infra.api.rendering import json_response
from infra.sharding.probe import error_line, probe_all
from infra.sharding.shards import all_aliases
from operations.queries.charts import read_charts
from operations.queries.slow_queries import list_slow
from operations.samples import SLOT_S
from operations.site import page_context


@require_safe
def show_operations(request: HttpRequest) -> HttpResponse:
    context = page_context(request, "Operations") | {"every_s": SLOT_S}
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
