"""The open loop of the benchmark: latency from the intended start, percentiles, capacity."""

import itertools
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.bench.mix.capacity import find_capacity
from lab.bench.mix.memory import MemorySample, memory_figures
from lab.load import paced
from lab.load.loop import LoadRequest
from lab.load.mix import percentiles_ms, read_bodies
from lab.load.paced import run_paced

# Requests by connection of the small server.
served: Counter[int] = Counter()
STALL_S, PER_S, SECONDS = 0.4, 100, 0.2


@pytest.fixture(autouse=True)
def _forget_served() -> None:
    served.clear()


@contextmanager
def small_server(status: int = 200, stall_s: float = 0.0) -> Iterator[tuple[str, int]]:
    """Answers with the path that was asked, but `/close` closes the connection.

    The first answer comes after the stall.
    """
    stalls, listener = itertools.chain([stall_s], itertools.repeat(0.0)), socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            while request := connection.recv(1 << 16):
                over.wait(next(stalls))
                path = request.split(b" ")[1]
                served[connection.fileno()] += 1
                if path == b"/close":
                    return
                head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(path)}\r\n\r\n"
                connection.sendall(head.encode() + path)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\n\r\n".encode()


def test_latency_counts_from_the_intended_start(monkeypatch: pytest.MonkeyPatch):
    """All requests were due while the only connection waited, so none of them was fast."""
    monkeypatch.setattr(paced, "MOST_UNANSWERED", 1)
    requests = itertools.repeat(LoadRequest(get("/"), kind="home"))
    with small_server(stall_s=STALL_S) as address:
        result = run_paced(address, requests, PER_S, SECONDS)
    assert len(result.latencies_s["home"]) == PER_S * SECONDS
    assert min(result.latencies_s["home"]) > STALL_S - SECONDS


def test_rate_is_constant_and_kinds_are_apart():
    kinds = itertools.cycle(LoadRequest(get("/"), kind=kind) for kind in ("home", "home", "post"))
    with small_server() as address:
        result = run_paced(address, kinds, 150, 0.2)
    assert {kind: len(some) for kind, some in result.latencies_s.items()} == {
        "home": 20,
        "post": 10,
    }
    assert result.elapsed_s >= 29 / 150
    assert len(result.ack_s) == 30


def test_connections_are_used_in_turn(monkeypatch: pytest.MonkeyPatch):
    """A server closes a connection that is idle for long, so none may be."""
    monkeypatch.setattr(paced, "MOST_UNANSWERED", 4)
    with small_server() as address:
        run_paced(address, itertools.repeat(LoadRequest(get("/"))), 200, 0.2)
    # One that waits for an answer is passed over once.
    assert sum(served.values()) == 40 and min(served.values()) >= 8


def test_a_closed_connection_ends_the_load():
    with small_server() as address, pytest.raises(ConnectionError):
        run_paced(address, itertools.repeat(LoadRequest(get("/close"))), 100, 0.1)


def test_refused_requests_are_counted():
    with small_server(status=404) as address:
        result = run_paced(address, itertools.repeat(LoadRequest(get("/"))), 100, 0.1)
    assert result.refused == 10


def test_bodies_come_in_the_order_of_the_requests():
    paths = [f"/{number}" for number in range(30)]
    with small_server(stall_s=0.05) as address:
        assert read_bodies(address, [*map(get, paths)]) == [path.encode() for path in paths]


def test_a_refused_read_raises():
    with small_server(status=404) as address, pytest.raises(RuntimeError, match="404"):
        read_bodies(address, [get("/")])


def test_percentiles_are_milliseconds_of_the_sorted_values():
    values = [number / 1_000 for number in range(1_000, 0, -1)]
    shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
    assert percentiles_ms(values, shares) == {"p50": 501, "p99": 991, "p99.9": 1_000}
    assert percentiles_ms([], shares) == {}


@pytest.mark.parametrize("true_capacity", [250.0, 600.0, 880.0])
def test_capacity_is_found_by_bisection(true_capacity: float):
    tried: list[float] = []

    def holds(rate: float) -> bool:
        tried.append(rate)
        return rate <= true_capacity

    found = find_capacity(holds, 200, 1_000, probes=5)
    assert len(tried) == 5
    assert true_capacity - 800 / 2**5 <= found <= true_capacity


def test_memory_that_grows_late_has_a_slope():
    early = [MemorySample(at_s, 100 + at_s) for at_s in range(60)]
    flat = [MemorySample(at_s, 160) for at_s in range(60, 120)]
    grown = [MemorySample(at_s, 160 + (at_s - 60) / 30) for at_s in range(60, 120)]
    assert memory_figures([*early, *flat])["growth_per_min"] == 0
    assert memory_figures([*early, *grown])["growth_per_min"] == 2
    assert memory_figures([*early, *flat])["first"] == 100
    assert memory_figures(flat[:3]) == {}
