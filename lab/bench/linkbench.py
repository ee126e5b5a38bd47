"""LinkBench's mix of operations on a real follow graph: by function calls, and over HTTP."""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from accounts.queries.load import load_account_json
from infra.api.pages import Window
from lab.bench.linkbench_http import Callers
from lab.bench.linkbench_mix import READS, Mix, Operation
from lab.bench.lookups import compare_lookups
from lab.bench.product import running_product
from lab.bench.world import FollowGraph, drain_all, load_follow_graph
from lab.load.mix import run_mix
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.queries.relationships import load_relationships
from relations.types import FollowOptions
from tests.budgets import count_calls

WARM_QUERIES_S = 8.0
OPERATIONS = 4_000
CONNECTIONS = 16
WARM_S = 1.0
HTTP_S = 8.0
ACTORS = 300
PAGE = 40
SEED = 1


def measure(path: Path | None = None) -> dict[str, Any]:
    world = load_follow_graph(path)
    return {
        "graph": {
            "accounts": len(world.ids),
            "follows": sum(map(len, world.following.values())),
        },
        "queries": measure_queries(world),
        "http": measure_http(world),
        "lookups": compare_lookups(world),
    }


def measure_queries(world: FollowGraph) -> dict[str, Any]:
    """One thread. The changes are delivered afterwards and timed separately."""
    mix = Mix(world.following, world.ids, world.ids, SEED)
    warm_until = time.monotonic() + WARM_QUERIES_S
    while time.monotonic() < warm_until:
        operation = mix.draw()
        if operation.kind in READS:
            _run(operation)
    drain_all()
    taken: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    with count_calls() as calls:
        for _ in range(OPERATIONS):
            operation = mix.draw()
            sql, trips = len(calls.statements), calls.round_trips
            started = time.perf_counter()
            _run(operation)
            took_s = time.perf_counter() - started
            counts = (len(calls.statements) - sql, calls.round_trips - trips)
            taken[operation.kind].append((took_s, *counts))
            calls.statements.clear()
    started = time.perf_counter()
    delivered = drain_all()
    return {
        **_rate([took_s for each in taken.values() for took_s, _, _ in each]),
        "delivered_per_s": round(delivered / (time.perf_counter() - started)),
        "kinds": {kind: _of_kind(each) for kind, each in sorted(taken.items())},
    }


def _run(operation: Operation) -> None:
    """Calls the functions that the API's views call."""
    kind, account_id, others = operation.kind, operation.account_id, operation.others
    if kind == "getlinklist":
        _read_pages(operation)
    elif kind == "getlink":
        load_relationships(account_id, others)
    elif kind in ("countlink", "getnode"):
        load_account_json([account_id])
    elif kind == "deletelink":
        unfollow(account_id, others[0])
    else:
        follow(account_id, others[0], FollowOptions(notify=operation.notify))


def _read_pages(operation: Operation) -> None:
    edge_list = FOLLOWERS_LIST if operation.is_followers else FOLLOWING_LIST
    page = list_page(edge_list, operation.account_id, Window(PAGE))
    if operation.is_older and page.older:
        list_page(edge_list, operation.account_id, Window(PAGE, max_id=page.older))


def _of_kind(taken: list[tuple[float, int, int]]) -> dict[str, float]:
    times, sql, trips = zip(*taken, strict=True)
    return {
        "operations": len(taken),
        **_rate(times),
        "sql": round(sum(sql) / len(taken), 2),
        "redis": round(sum(trips) / len(taken), 2),
    }


def _rate(times: Sequence[float]) -> dict[str, float]:
    """Figures of operations that ran one after the other."""
    return {"per_s": round(len(times) / sum(times)), **_latency(times)}


def _latency(times: Iterable[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 2),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)] * 1000, 2),
    }


def measure_http(world: FollowGraph) -> dict[str, Any]:
    """The web server of `make run`, CONNECTIONS connections, and a compensator that delivers."""
    actors = [account_id for account_id in world.ids if account_id in world.following][:ACTORS]
    callers = Callers(actors)
    mix = Mix(world.following, world.ids, actors, SEED)

    def next_request() -> tuple[str, bytes]:
        operation = mix.draw()
        return operation.kind, callers.request_for(operation)

    with running_product("worker") as product:
        run_mix(product.address, next_request, CONNECTIONS, WARM_S)
        result = run_mix(product.address, next_request, CONNECTIONS, HTTP_S)
    every = [took_s for each in result.latencies.values() for took_s in each]
    drain_all()
    return {
        "per_s": round(len(every) / result.elapsed_s),
        **_latency(every),
        "refused": result.refused,
        "kinds": {
            kind: {"operations": len(each), **_latency(each)}
            for kind, each in sorted(result.latencies.items())
        },
    }
