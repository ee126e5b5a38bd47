"""A keep-alive HTTP client that costs little compared with the server."""

import itertools
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import orjson

READ_CONNECTIONS = 8
# How long a load waits for its first answer.
FIRST_ANSWER_S = 10.0
USUAL_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_HEAD = "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "


class MixResult(NamedTuple):
    """Latencies in seconds by kind. `refused`: how many answers had a status of 400 to 499."""

    elapsed_s: float
    latencies: dict[str, list[float]]
    refused: int


def get_request(path: str, token: str) -> bytes:
    return f"GET {path} {_HEAD}{token}\r\n\r\n".encode()


def post_request(path: str, token: str, data: Mapping[str, Any]) -> bytes:
    body = orjson.dumps(data)
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    return f"POST {path} {_HEAD}{token}\r\n{kind}\r\n\r\n".encode() + body


def percentiles_ms(
    values_s: Sequence[float], shares: Mapping[str, float] = USUAL_SHARES
) -> dict[str, float]:
    """These percentiles in milliseconds; nothing without values."""
    ordered = sorted(values_s)
    latencies = {
        name: ordered[int(len(ordered) * share)] for name, share in shares.items() if ordered
    }
    return {name: round(value * 1000, 2) for name, value in latencies.items()}


class Connection:
    """One keep-alive connection. `body`: of the last complete response."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.body = b""
        self.expected = 0
        self.status = 0
        self._body_at = 0

    def send(self, kind: str, request: bytes) -> None:
        self.kind = kind
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Reads available bytes. True when the response is complete. Raises ConnectionError."""
        received = self.socket.recv(1 << 16)
        if not received:
            raise ConnectionError("the server closed the connection")
        self.buffer += received
        if not self.expected:
            head, separator, _ = self.buffer.partition(b"\r\n\r\n")
            if not separator:
                return False
            self.status = int(head[9:12])
            if self.status >= 500:
                raise RuntimeError(self.buffer.decode(errors="replace")[:500])
            length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
            self._body_at = len(head) + 4
            self.expected = self._body_at + int(length)
        if len(self.buffer) < self.expected:
            return False
        self.body = self.buffer[self._body_at :]
        self.buffer, self.expected = b"", 0
        return True


@contextmanager
def _connected(
    address: tuple[str, int], count: int
) -> Iterator[tuple[selectors.BaseSelector, list[Connection]]]:
    """Connections, and a selector with all of them as data. They are closed at the end."""
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        connections = [Connection(address) for _ in range(count)]
        for connection in connections:
            stack.enter_context(connection.socket)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        yield selector, connections


def read_bodies(address: tuple[str, int], requests: Sequence[bytes]) -> list[bytes]:
    """The body of the answer to each request. Raises RuntimeError if one is refused."""
    bodies: dict[str, bytes] = {}
    waiting = ((str(number), request) for number, request in enumerate(requests))
    with _connected(address, min(READ_CONNECTIONS, len(requests))) as (selector, connections):
        for connection in connections:
            connection.send(*next(waiting))
        while len(bodies) < len(requests):
            for key, _ in selector.select(timeout=1):
                if key.data.receive():
                    bodies[key.data.kind] = _body_of(key.data)
                    for kind, request in itertools.islice(waiting, 1):
                        key.data.send(kind, request)
    return [bodies[str(number)] for number in range(len(requests))]


def _body_of(connection: Connection) -> bytes:
    if connection.status >= 400:
        raise RuntimeError(f"{connection.status} {connection.body[:200]!r}")
    return connection.body


def run_mix(
    address: tuple[str, int],
    next_request: Callable[[], tuple[str, bytes]],
    connections: int,
    seconds: float,
) -> MixResult:
    """Keeps `connections` requests running. Each comes from `next_request`: (kind, request).

    It waits longer for the first answer: a crowded machine gives none in a very short time.
    """
    latencies: dict[str, list[float]] = {}
    refused = 0
    with _connected(address, connections) as (selector, opened):
        started = time.perf_counter()
        for connection in opened:
            connection.send(*next_request())
        while (elapsed_s := time.perf_counter() - started) < seconds or _lacks_answers(
            latencies, elapsed_s
        ):
            for key, _ in selector.select(timeout=1):
                if key.data.receive():
                    took_s = time.perf_counter() - key.data.sent_at
                    latencies.setdefault(key.data.kind, []).append(took_s)
                    refused += key.data.status >= 400
                    key.data.send(*next_request())
    return MixResult(elapsed_s, latencies, refused)


def _lacks_answers(latencies: Mapping[str, Sequence[float]], elapsed_s: float) -> bool:
    return not latencies and elapsed_s < FIRST_ANSWER_S
