"""The mix as an open loop: the capacity, then latencies, CPU and memory at 60 % of it.

A bare Django view at the same rate shows how much of the latencies the machine and the client make.
"""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from lab.bench.cpu import CpuReading
from lab.bench.mix.capacity import find_capacity
from lab.bench.mix.data import MixData, load_mix_data
from lab.bench.mix.memory import memory_figures, sampling_memory
from lab.bench.mix.requests import MixRequests, read_places
from lab.bench.mix.shares import PER_THOUSAND, READS
from lab.bench.product import Product, running_product, wait_until_delivered
from lab.bench.server import bare_server
from lab.bench.store_figures import RedisFigures, count_transactions
from lab.load.connection import get_request
from lab.load.loop import LoadRequest
from lab.load.mix import percentiles_ms, read_bodies, run_mix
from lab.load.paced import PacedResult, run_paced

CONNECTIONS = 16
# A rate holds while the p99 of the reads stays below this. Above its capacity a queue grows.
MOST_P99_MS = 50.0
PROBES, LOWEST, HIGHEST = 5, 0.4, 1.4
LOAD = 0.6
# Shares of the time of the measurement, and how long it is at most for them.
WARM_UP, PROBE, MOST_S = 0.25, 0.2, 20.0
# After so many requests both web processes know most of what is read often. At most so many shares
# of WARM_UP are used for them.
WARM_UP_REQUESTS, MOST_WARM_UPS = 40_000, 12
SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


def measure(path: Path | None, accounts: int, seconds: float) -> dict[str, Any]:
    """`seconds`: how long the load of 60 % runs. What comes before it takes at most 90 seconds."""
    data, search_s = load_mix_data(path, accounts), min(seconds, MOST_S)
    with running_product() as product:
        requests = MixRequests(data, read_places(product.address, data))
        closed = _warm_up(product, requests, search_s * WARM_UP)
        capacity, tried = _capacity(product, iter(requests), closed, search_s * PROBE)
        steady = _steady(product, iter(requests), capacity * LOAD, seconds)
        (page,) = read_bodies(product.address, [requests.of("home").request])
        bare = _bare(page, capacity * LOAD, search_s * PROBE)
    return {
        "world": _world(data),
        "capacity": {"closed_loop_per_s": round(closed), "per_s": round(capacity)},
        "p99_ms_by_rate": tried,
        "bare_ms": bare,
        **steady,
    }


def _world(data: MixData) -> dict[str, int]:
    return {
        "accounts": len(data.graph.ids),
        "follows": sum(map(len, data.graph.following.values())),
        "posts": sum(map(len, data.posts.values())),
        "readers": len(data.readers),
        "shards": len(settings.SHARD_ALIASES),
    }


def _warm_up(product: Product, requests: MixRequests, slice_s: float) -> float:
    """Requests a second of the last slice, with CONNECTIONS clients that wait for their answers."""
    asked, per_s = 0, 0.0
    for _ in range(MOST_WARM_UPS):
        count, per_s = _closed_loop(product, requests, slice_s)
        asked += count
        if asked >= WARM_UP_REQUESTS:
            break
    return per_s


def _closed_loop(product: Product, requests: MixRequests, seconds: float) -> tuple[int, float]:
    """How many requests there were, and how many a second."""
    mix = ((request.kind, request.request) for request in requests)
    result = run_mix(product.address, lambda: next(mix), CONNECTIONS, seconds)
    wait_until_delivered()
    count = sum(map(len, result.latencies.values()))
    return count, count / result.elapsed_s


def _capacity(
    product: Product, requests: Iterator[LoadRequest], closed: float, seconds: float
) -> tuple[float, Mapping[str, float]]:
    """The capacity, and the p99 in ms of each rate that was tried."""
    tried: dict[str, float] = {}

    def holds(per_s: float) -> bool:
        result = run_paced(product.address, requests, per_s, seconds)
        wait_until_delivered()
        p99_ms = tried[f"{per_s:.0f}"] = _reads_ms(result)["p99"]
        return p99_ms < MOST_P99_MS

    return find_capacity(holds, closed * LOWEST, closed * HIGHEST, PROBES), tried


def _steady(
    product: Product, requests: Iterator[LoadRequest], per_s: float, seconds: float
) -> dict[str, Any]:
    (web,) = product.parts["web"]
    before, redis_before = CpuReading.of(product.parts), RedisFigures.read()
    transactions = count_transactions()
    with sampling_memory(web) as samples:
        result = run_paced(product.address, requests, per_s, seconds)
    wait_until_delivered()
    after, redis, count = CpuReading.of(product.parts), RedisFigures.read(), len(result.ack_s)
    cpu_ms = after.per_operation_ms(before, dict.fromkeys(product.parts, 0.0), count)
    spent = redis.since(redis_before)
    return {
        "steady": {"per_s": round(result.rate), "refused": result.refused},
        "latency_ms": {"reads": _reads_ms(result)} | _by_kind(result),
        "cpu_us": {part: round(ms * 1000) for part, ms in cpu_ms.items()},
        "per_request": {
            "redis_us": round(spent.cpu_s / count * 1e6, 1),
            "redis_commands": round(spent.commands / count, 1),
            "transactions": round((count_transactions() - transactions) / count, 2),
        },
        "web_worker_mb": memory_figures(samples),
    }


def _bare(page: bytes, per_s: float, seconds: float) -> Mapping[str, float]:
    """Latencies of the bare view, which returns this page, while the product has nothing to do."""
    with bare_server({"page": page}) as server:
        request = LoadRequest(get_request("/bare?page", "none"))
        result = run_paced(server.address, itertools.repeat(request), per_s, seconds)
    return percentiles_ms(result.ack_s, SHARES)


def _reads_ms(result: PacedResult) -> Mapping[str, float]:
    every = [took_s for kind in READS for took_s in result.latencies_s.get(kind, ())]
    return percentiles_ms(every, SHARES)


def _by_kind(result: PacedResult) -> dict[str, dict[str, float]]:
    return {
        kind: percentiles_ms(result.latencies_s[kind], SHARES)
        for kind in PER_THOUSAND
        if kind in result.latencies_s
    }
