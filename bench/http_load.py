"""A keep-alive HTTP client lean enough not to be what is measured."""

import selectors
import socket
import time
from typing import NamedTuple


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


class _Connection:
    def __init__(self, address: tuple[str, int], request: bytes) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = request
        self.buffer = b""
        self.expected = 0

    def send(self) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(self.request)

    def receive(self) -> bool:
        """Reads what has come; True when the response is whole."""
        self.buffer += self.socket.recv(1 << 16)
        if not self.expected:
            head, separator, _ = self.buffer.partition(b"\r\n\r\n")
            if not separator:
                return False
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(self.buffer.decode(errors="replace")[:500])
            length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
            self.expected = len(head) + 4 + int(length)
        if len(self.buffer) < self.expected:
            return False
        self.buffer, self.expected = b"", 0
        return True


def run_load(
    address: tuple[str, int], path: str, token: str, connections: int, seconds: float
) -> Result:
    """Keeps `connections` requests under way for a while."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()
    selector = selectors.DefaultSelector()
    opened = [_Connection(address, request) for _ in range(connections)]
    started = time.perf_counter()
    for connection in opened:
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send()
    latencies: list[float] = []
    while (now := time.perf_counter()) - started < seconds:
        for key, _ in selector.select(timeout=1):
            if key.data.receive():
                latencies.append(now - key.data.sent_at)
                key.data.send()
    elapsed = time.perf_counter() - started
    for connection in opened:
        connection.socket.close()
    return Result(len(latencies), elapsed, sorted(latencies))
