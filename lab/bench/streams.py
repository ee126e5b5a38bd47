"""Open streams: thousands of connections of one streaming process, some of which get each post.

The clients are in this process, on the same cores. They note when the first byte of an event is
there; a time counts from the answer to the post.
"""

import asyncio
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.bench import world
from lab.bench.cpu import CpuReading
from lab.bench.product import running_product, wait_until_delivered
from lab.faults.resources import resident_mb
from lab.load.connection import Connection, post_request
from lab.load.mix import percentiles_ms
from lab.runner.child import Child
from lab.runner.port import HOST, free_port, is_answering
from lab.runner.programs import streaming_child
from lab.services.process_tree import process_tree
from relations.actions.follow import follow
from web.streaming.connections import MOST_OF_ACCOUNT

CONNECTIONS, RECEIVERS, POSTS = 10_000, 1_000, 20
SHARES = {"p50": 0.5, "p99": 0.99, "last": 0.9999}
_EVENT = b"event: update"
_OPENING, _IDLE_S, _PAUSE_S, _WAIT_S, _LOOK_S = 50, 5.0, 1.0, 30.0, 0.05
_HEALTH = "/api/v1/streaming/health"


class Listener(asyncio.Protocol):
    """One open stream. `heard_at`: when each event came, of `time.monotonic`."""

    def __init__(self, token: str) -> None:
        self._token = token
        self.heard_at: list[float] = []
        self.is_open = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        head = f"GET /api/v1/streaming/user HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer "
        transport.write(f"{head}{self._token}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        if not self.is_open.done():
            self.is_open.set_result(data.startswith(b"HTTP/1.1 200"))
        self.heard_at += [time.monotonic()] * data.count(_EVENT)


def measure() -> dict[str, Any]:
    _allow_files(3 * CONNECTIONS)
    (star,) = world.make_accounts(1)
    fans = world.make_accounts(RECEIVERS)
    others = world.make_accounts(-(-(CONNECTIONS - RECEIVERS) // MOST_OF_ACCOUNT))
    tokens = world.make_tokens([star, *fans, *others])
    with running_product() as product:
        for fan in fans:
            follow(fan, star)
        wait_until_delivered()
        with _streaming() as (child, port):
            listening = [tokens[fan] for fan in fans]
            listening += [tokens[i] for i in others for _ in range(MOST_OF_ACCOUNT)]
            return asyncio.run(
                _measure(product.address, port, child, tokens[star], listening[:CONNECTIONS])
            )


async def _measure(
    web: tuple[str, int], port: int, child: Child, star: str, tokens: Sequence[str]
) -> dict[str, Any]:
    parts = {"streaming": {child.pid}}
    empty_mb, begin = _memory_mb(child), time.monotonic()
    listeners = await _open_all(port, tokens)
    opened_s, open_mb = time.monotonic() - begin, _memory_mb(child)
    quiet = CpuReading.of(parts)
    await asyncio.sleep(_IDLE_S)
    idle = CpuReading.of(parts).rates_since(quiet)
    first = await _post_all(web, star, listeners[:RECEIVERS], 0, 1)
    warm = CpuReading.of(parts)
    later = await _post_all(web, star, listeners[:RECEIVERS], 1, POSTS)
    spent_ms = CpuReading.of(parts).per_operation_ms(warm, idle, len(later))
    return {
        "streams": {"open": len(listeners), "receivers": RECEIVERS, "posts": POSTS},
        # The first one finds nothing of the receivers in Redis: they have read no page.
        "first_after_ms": percentiles_ms(first, SHARES),
        "later_after_ms": percentiles_ms(later, SHARES),
        "missing": POSTS * RECEIVERS - len(first) - len(later),
        "process": {
            "empty_mb": round(empty_mb),
            "a_connection_kb": round((open_mb - empty_mb) * 1024 / len(listeners), 1),
            "opened_per_s": round(len(listeners) / opened_s),
            "idle_cpu_percent": round(100 * idle["streaming"], 1),
            "a_message_us": round(1000 * spent_ms["streaming"], 1),
        },
    }


async def _open_all(port: int, tokens: Sequence[str]) -> list[Listener]:
    loop, places = asyncio.get_running_loop(), asyncio.Semaphore(_OPENING)

    async def begin(token: str) -> Listener:
        async with places:
            _, listener = await loop.create_connection(lambda: Listener(token), HOST, port)
            assert await listener.is_open
            return listener

    return list(await asyncio.gather(*map(begin, tokens)))


async def _post_all(
    web: tuple[str, int], star: str, receivers: Sequence[Listener], begin: int, end: int
) -> list[float]:
    """From the answer to each of these posts to each receiver."""
    latencies: list[float] = []
    for number in range(begin, end):
        answered_at = await asyncio.to_thread(_post, web, star)
        while any(len(each.heard_at) <= number for each in receivers):
            if time.monotonic() > answered_at + _WAIT_S:
                break
            await asyncio.sleep(_LOOK_S)
        heard = (each.heard_at[number] for each in receivers if len(each.heard_at) > number)
        latencies += [max(at - answered_at, 0.0) for at in heard]
        await asyncio.sleep(_PAUSE_S)
    return latencies


def _post(web: tuple[str, int], token: str) -> float:
    connection = Connection(web)
    connection.send(post_request("/api/v1/statuses", token, {"status": world.TEXT}))
    while not connection.receive():
        pass
    answered_at = time.monotonic()
    assert connection.status == 200
    connection.socket.close()
    return answered_at


@contextmanager
def _streaming() -> Iterator[tuple[Child, int]]:
    with tempfile.TemporaryDirectory() as logs:
        port = free_port()
        environment: Mapping[str, str] = os.environ | {"STREAMING_CONNECTIONS": str(CONNECTIONS)}
        child = streaming_child(Path(logs), environment, port)
        child.begin()
        try:
            while not is_answering(port, _HEALTH):
                time.sleep(0.1)
            yield child, port
        finally:
            child.stop()


def _memory_mb(child: Child) -> float:
    """Of the worker; the other process only starts it."""
    return max(map(resident_mb, process_tree(child.pid)))


def _allow_files(count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
