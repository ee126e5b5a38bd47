"""Reads over HTTP, each interleaved with a bare Django view that returns the same bytes.

One reader's warm home page; each kind of read of the mix, by readers drawn by Zipf; and their home
pages while posts are written.
"""

import itertools
import statistics
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from infra.api.pages import Window
from lab.bench.cpu import CpuReading
from lab.bench.mix.data import load_mix_data
from lab.bench.mix.requests import HOME, MixRequests, read_places
from lab.bench.mix.shares import READS
from lab.bench.product import Product, running_product, wait_until_delivered
from lab.bench.server import BenchServer, bare_server
from lab.bench.store_figures import RedisFigures
from lab.load.connection import get_request
from lab.load.mix import MixResult, percentiles_ms, read_bodies, run_mix
from lab.load.paced import run_paced
from tests.budgets import count_calls
from timelines.home.page import home_page

CONNECTIONS = 16
SLICES, SLICES_A_MEASUREMENT = 3, 25
# Both web processes have then answered nearly all drawn requests. A slow machine needs longer.
WARM_UP_REQUESTS, MOST_WARM_UP_SLICES = 40_000, 25
WRITES_PER_S = 20
DRAWN = 5_000  # requests of a kind
TICK_S = 0.01  # the kernel counts CPU time in these; a slice that got none took less
FOLLOWEES = 60  # of the one reader, or about so many


class ReadRow(NamedTuple):
    """A row of the result. `next_request` is called for each request."""

    name: str
    next_request: Callable[[], bytes]
    has_writes: bool = False


class ReadSlice(NamedTuple):
    """One slice of load on one server. `cpu_us` and what follows it: of one request."""

    per_s: float
    cpu_us: float
    redis_us: float
    redis_commands: float
    latencies_s: Sequence[float]


def measure(path: Path | None, accounts: int, seconds: float) -> dict[str, Any]:
    """By row: medians of the slices. Ratios to the bare view above 1 are better than its own.

    `seconds`: so long as 25 slices.
    """
    data = load_mix_data(path, accounts)
    reader = min(
        data.readers, key=lambda reader: abs(len(data.graph.following[reader]) - FOLLOWEES)
    )
    one_home, page = get_request(HOME, data.tokens[reader]), _count(reader)
    with running_product() as product:
        requests = MixRequests(data, read_places(product.address, data))
        rows = [ReadRow("one_reader", lambda: one_home), *_rows(requests)]
        with _floor(product, rows) as floor:
            comparison = Comparison(product, floor, requests, seconds / SLICES_A_MEASUREMENT)
            figures = comparison.run(rows)
    return {"readers": {"count": len(data.readers)}, "page": page} | figures


def _rows(requests: MixRequests) -> list[ReadRow]:
    """Requests are drawn in advance: else the client would draw while our server waits for it."""
    drawn = {kind: [requests.of(kind).request for _ in range(DRAWN)] for kind in READS}
    rows = [ReadRow(kind, itertools.cycle(some).__next__) for kind, some in drawn.items()]
    next_home = itertools.cycle(drawn["home"]).__next__
    return [*rows, ReadRow(f"home_with_{WRITES_PER_S}_writes_per_s", next_home, has_writes=True)]


def _floor(product: Product, rows: Sequence[ReadRow]) -> AbstractContextManager[BenchServer]:
    """Bare views, each with the bytes of one answer of its row."""
    bodies = read_bodies(product.address, [row.next_request() for row in rows])
    return bare_server({row.name: body for row, body in zip(rows, bodies, strict=True)})


class Comparison:
    """Rows run one after the other, each in slices that take turns with its bare view.

    The rows themselves take no turns: most pages of a row would end before its next slice.
    """

    def __init__(
        self, product: Product, floor: BenchServer, requests: MixRequests, slice_s: float
    ) -> None:
        self._product, self._floor = product, floor
        self._parts = {"web": product.parts["web"], "floor": {floor.pid}}
        self._requests = requests
        self._slice_s = slice_s

    def run(self, rows: Sequence[ReadRow]) -> dict[str, dict[str, float]]:
        return {row.name: self._compare(row) for row in rows}

    def _compare(self, row: ReadRow) -> dict[str, float]:
        """The figures of slices of ours, each with the bare view's slice before it.

        In a row with writes, `rate_of_busy_bare` compares with the bare view next to the same
        writes.
        """
        self._warm_up(row)
        taken, busy = [], []
        for _ in range(SLICES):
            floor = self._floor_slice(row)
            if row.has_writes:
                self._ask_slice(row)  # what was written since the last slice has changed all pages
            with self._writes_of(row):
                ours = self._slice("web", self._product.address, row.next_request)
            taken.append((ours, floor))
            if row.has_writes:
                with self._writes_of(row):
                    busy.append((ours, self._floor_slice(row)))
        figures = read_figures(taken)
        return figures | ({"rate_of_busy_bare": _median_rate_of(busy)} if busy else {})

    def _floor_slice(self, row: ReadRow) -> ReadSlice:
        bare = get_request(f"/bare?{row.name}", "none")
        return self._slice("floor", self._floor.address, lambda: bare)

    def _writes_of(self, row: ReadRow) -> AbstractContextManager[None]:
        return self._writes() if row.has_writes else nullcontext()

    def _warm_up(self, row: ReadRow) -> None:
        """With the writes of the row: each connection of a web process to a shard, and the shard's
        process behind it, needs some writes until it is quick."""

        asked = 0
        for _ in range(MOST_WARM_UP_SLICES):
            asked += self._ask_slice(row)
            if asked >= WARM_UP_REQUESTS:
                break

    def _ask_slice(self, row: ReadRow) -> int:
        """A slice that is not measured. How many requests it had."""
        with self._writes_of(row):
            ours = self._slice("web", self._product.address, row.next_request)
        return len(ours.latencies_s)

    def _slice(
        self, part: str, address: tuple[str, int], next_request: Callable[[], bytes]
    ) -> ReadSlice:
        before, redis = CpuReading.of(self._parts), RedisFigures.read()
        result = run_mix(address, lambda: ("read", next_request()), CONNECTIONS, self._slice_s)
        after, spent = CpuReading.of(self._parts), RedisFigures.read().since(redis)
        used_s = after.used_s[part] - before.used_s[part]
        return _slice_of(result, used_s, spent)

    @contextmanager
    def _writes(self) -> Iterator[None]:
        """Posts at a constant rate, for as long as a slice."""
        arguments = (self._product.address, self._requests.posts(), WRITES_PER_S, self._slice_s)
        writing = threading.Thread(target=run_paced, args=arguments)
        writing.start()
        try:
            yield
        finally:
            writing.join()
            wait_until_delivered()


def _slice_of(result: MixResult, cpu_s: float, redis: RedisFigures) -> ReadSlice:
    if result.refused:
        raise RuntimeError(f"{result.refused} requests were refused")
    latencies = result.latencies["read"]
    count = len(latencies)
    return ReadSlice(
        per_s=count / result.elapsed_s,
        cpu_us=max(cpu_s, TICK_S) / count * 1e6,
        redis_us=redis.cpu_s / count * 1e6,
        redis_commands=redis.commands / count,
        latencies_s=latencies,
    )


def read_figures(slices: Sequence[tuple[ReadSlice, ReadSlice]]) -> dict[str, float]:
    """Pairs of ours and the floor's, which ran one after the other."""
    ours, floor = zip(*slices, strict=True)
    return {
        "per_s": round(statistics.median(run.per_s for run in ours)),
        "rate_of_bare": _median_rate_of(slices),
        "cpu_of_bare": round(statistics.median(f.cpu_us / o.cpu_us for o, f in slices), 2),
        "cpu_us": round(statistics.median(run.cpu_us for run in ours)),
        "bare_cpu_us": round(statistics.median(run.cpu_us for run in floor)),
        "redis_us": round(statistics.median(run.redis_us for run in ours), 1),
        "redis_commands": round(statistics.median(run.redis_commands for run in ours), 1),
        **percentiles_ms([took_s for run in ours for took_s in run.latencies_s]),
    }


def _median_rate_of(slices: Sequence[tuple[ReadSlice, ReadSlice]]) -> float:
    return round(statistics.median(ours.per_s / floor.per_s for ours, floor in slices), 2)


def _count(account_id: int) -> dict[str, int]:
    """Redis round trips and SQL queries of one warm page."""
    for _ in range(2):  # the first may write to Redis; the second is remembered
        home_page(account_id, Window(20))
    with count_calls() as calls:
        home_page(account_id, Window(20))
    return {"redis_round_trips": calls.round_trips, "sql_queries": len(calls.statements)}
