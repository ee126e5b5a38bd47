"""The warm home page over HTTP, interleaved with a bare view that returns the same bytes."""

import statistics
import urllib.request
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.db import connections

from bench.http_load import run_load
from bench.server import BenchServer, cpu_s, floor_server, product_server
from bench.world import Reader, make_reader
from infra.api.pages import Window
from infra.caching.client import redis
from timelines.queries.home import home_page

CONNECTIONS = 16
SLICES = 6
SLICE_S = 1.5
PATH = "/api/v1/timelines/home"


def measure() -> dict[str, Any]:
    """Medians, and medians of the ratios of page to floor in each slice."""
    reader = make_reader(followees=60, posts_each=8)
    round_trips, queries = count_calls(reader)
    with product_server() as product, NamedTemporaryFile() as body:
        page = _get(f"{product.url}{PATH}", reader.token)
        Path(body.name).write_bytes(page)
        with floor_server("bench.bare:application", BENCH_BODY=body.name) as floor:
            slices = [
                _slice(server, path, reader.token)
                for _ in range(SLICES)
                for server, path in ((floor, "/bare"), (product, PATH))
            ]
    bare, home = slices[2::2], slices[3::2]  # the first pair warms up
    return {
        "page_bytes": len(page),
        "page_per_s": _median(home, "rate"),
        "bare_per_s": _median(bare, "rate"),
        "rate_ratio": _ratio(home, bare, "rate"),
        "cpu_ratio": _ratio(home, bare, "cpu_us"),
        "page_cpu_us": _median(home, "cpu_us"),
        "bare_cpu_us": _median(bare, "cpu_us"),
        "page_p50_ms": _median(home, "p50_ms"),
        "page_p99_ms": _median(home, "p99_ms"),
        "redis_round_trips": round_trips,
        "sql_queries": queries,
    }


def _slice(server: BenchServer, path: str, token: str) -> dict[str, float]:
    before = cpu_s(server.pid)
    result = run_load(server.address, path, token, CONNECTIONS, SLICE_S)
    return {
        "rate": result.rate,
        "cpu_us": (cpu_s(server.pid) - before) / result.requests * 1e6,
        "p50_ms": result.percentile_ms(0.5),
        "p99_ms": result.percentile_ms(0.99),
    }


def count_calls(reader: Reader) -> tuple[int, int]:
    """Redis round trips and SQL queries of one warm page."""
    for _ in range(2):  # the first finds posts in Redis, the second in process memory
        home_page(reader.account_id, Window(20))
    client = redis()._client
    trips, run = [], client.run
    queries: list[str] = []

    def counted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append(sql)
        return execute(sql, params, many, context)

    client.run = lambda commands: (trips.append(1), run(commands))[1]  # type: ignore[method-assign]
    wrappers = [connection.execute_wrapper(counted) for connection in connections.all()]
    for wrapper in wrappers:
        wrapper.__enter__()
    home_page(reader.account_id, Window(20))
    for wrapper in wrappers:
        wrapper.__exit__(None, None, None)
    del client.run  # restores the method of the class
    return len(trips), len(queries)


def _ratio(ours: list[dict[str, float]], floor: list[dict[str, float]], name: str) -> float:
    return statistics.median(o[name] / f[name] for o, f in zip(ours, floor, strict=True))


def _median(slices: list[dict[str, float]], name: str) -> float:
    return statistics.median(entry[name] for entry in slices)


def _get(url: str, token: str) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as response:
        return bytes(response.read())
