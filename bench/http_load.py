"""A keep-alive HTTP client that costs little compared with the server."""

import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

_HEAD = "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "


class Result(NamedTuple):
    """One slice of load. Latencies in seconds, sorted."""

    requests: int
    elapsed_s: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.requests / self.elapsed_s

    def percentile_ms(self, share: float) -> float:
        return self.latencies[int(len(self.latencies) * share)] * 1000


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


def percentiles_ms(values_s: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds; nothing without values."""
    ordered = sorted(values_s)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    found = {name: ordered[int(len(ordered) * share)] for name, share in shares.items() if ordered}
    return {name: round(value * 1000, 1) for name, value in found.items()}


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
        """Reads available bytes. True when the response is complete."""
        self.buffer += self.socket.recv(1 << 16)
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


def run_load(
    address: tuple[str, int], path: str, token: str, connections: int, seconds: float
) -> Result:
    """Keeps `connections` requests of one path running. Raises if one is refused."""
    request = get_request(path, token)
    result = run_mix(address, lambda: (path, request), connections, seconds)
    if result.refused:
        raise RuntimeError(f"{path}: {result.refused} requests were refused")
    latencies = result.latencies[path]
    return Result(len(latencies), result.elapsed_s, sorted(latencies))


def run_mix(
    address: tuple[str, int],
    next_request: Callable[[], tuple[str, bytes]],
    connections: int,
    seconds: float,
) -> MixResult:
    """Keeps `connections` requests running. Each comes from `next_request`: (kind, request)."""
    selector = selectors.DefaultSelector()
    opened = [Connection(address) for _ in range(connections)]
    started = time.perf_counter()
    for connection in opened:
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(*next_request())
    latencies: dict[str, list[float]] = {}
    refused = 0
    while (now := time.perf_counter()) - started < seconds:
        for key, _ in selector.select(timeout=1):
            if key.data.receive():
                took_s = time.perf_counter() - key.data.sent_at
                latencies.setdefault(key.data.kind, []).append(took_s)
                refused += key.data.status >= 400
                key.data.send(*next_request())
    elapsed = now - started
    for connection in opened:
        connection.socket.close()
    return MixResult(elapsed, latencies, refused)
