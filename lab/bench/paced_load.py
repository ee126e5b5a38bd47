"""An HTTP client with an open loop: requests at a fixed rate, however long the answers take.

One thread with a selector, so that the client itself costs little. Every latency counts from the
turn of the request, also when all connections were busy then. It also sees when a post is visible.
"""

import gc
import heapq
import selectors
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from lab.bench.http_load import Connection

READ_EVERY_S = 0.002
GIVE_UP_S = 10.0
MOST_UNANSWERED = 32


class PacedRequest(NamedTuple):
    """`seen_by`: the number of the reader whose page will show the new post; None: no reader."""

    request: bytes
    seen_by: int | None = None
    kind: str = "write"


@dataclass
class PacedResult:
    """Seconds. `latencies_s`: by kind. `elapsed_s`: until the last turn.

    `visible_s`: from an answer until a page with the post has arrived.
    """

    elapsed_s: float = 0.0
    latencies_s: dict[str, list[float]] = field(default_factory=dict)
    visible_s: list[float] = field(default_factory=list)
    refused: int = 0
    unseen: int = 0

    @property
    def ack_s(self) -> list[float]:
        """The latencies of all kinds."""
        return [took_s for some in self.latencies_s.values() for took_s in some]

    @property
    def rate(self) -> float:
        return len(self.ack_s) / self.elapsed_s


def run_paced(
    address: tuple[str, int],
    requests: Iterator[PacedRequest],
    per_s: float,
    seconds: float,
    pages: Sequence[bytes] = (),
) -> PacedResult:
    """Sends `per_s` requests a second, and returns when all are answered and seen.

    `pages`: for each reader the request for its page. Raises ConnectionError.
    """
    with _without_collections():
        load = _Run(address, pages)
        try:
            return load.run(requests, per_s, seconds)
        finally:
            load.close()


@contextmanager
def _without_collections() -> Iterator[None]:
    """A collection in the client would look like a slow answer."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Run:
    def __init__(self, address: tuple[str, int], pages: Sequence[bytes]) -> None:
        self._selector = selectors.DefaultSelector()
        self._result = PacedResult()
        # In turn, because a server closes connections that were idle for long.
        self._free = deque(self._open(address) for _ in range(MOST_UNANSWERED))
        self._busy: dict[Connection, tuple[float, PacedRequest]] = {}
        self._readers = [_Reader(self._open(address), page) for page in pages]
        self._reader_of = {reader.connection: reader for reader in self._readers}
        # Readers that read again: when, and their number.
        self._due: list[tuple[float, int]] = []

    def _open(self, address: tuple[str, int]) -> Connection:
        connection = Connection(address)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def run(self, requests: Iterator[PacedRequest], per_s: float, seconds: float) -> PacedResult:
        started = time.perf_counter()
        turn, last = 0, round(per_s * seconds)
        while turn < last or self._is_waiting():
            now = time.perf_counter()
            while turn < last and self._free and started + turn / per_s <= now:
                self._send(next(requests), started + turn / per_s)
                turn += 1
            while self._due and self._due[0][0] <= now:
                self._readers[heapq.heappop(self._due)[1]].ask()
            wait_s = self._wait_s(started + turn / per_s if turn < last else None, now)
            for key, _ in self._selector.select(wait_s):
                if key.data.receive():
                    self._take(key.data)
            if turn == last and not self._result.elapsed_s:
                self._result.elapsed_s = time.perf_counter() - started
        return self._result

    def _is_waiting(self) -> bool:
        return bool(self._busy) or any(reader.wanted for reader in self._readers)

    def _wait_s(self, next_turn: float | None, now: float) -> float:
        at = [due for due, _ in self._due[:1]]
        at += [next_turn] if next_turn is not None and self._free else []
        return max(0.0, min(at) - now) if at else 0.1

    def _send(self, request: PacedRequest, turn_at: float) -> None:
        connection = self._free.popleft()
        self._busy[connection] = (turn_at, request)
        connection.send(request.kind, request.request)

    def _take(self, connection: Connection) -> None:
        if connection in self._busy:
            self._take_answer(connection, time.perf_counter())
        else:
            reader = self._reader_of[connection]
            now = time.perf_counter()
            self._result.visible_s += reader.take_page(now)
            self._result.unseen += reader.give_up(now)
            if reader.wanted:
                self._read_later(self._readers.index(reader), now + READ_EVERY_S)

    def _take_answer(self, connection: Connection, now: float) -> None:
        turn_at, request = self._busy.pop(connection)
        self._free.append(connection)
        self._result.latencies_s.setdefault(request.kind, []).append(now - turn_at)
        self._result.refused += connection.status >= 400
        if self._readers and request.seen_by is not None and connection.status < 400:
            reader = self._readers[request.seen_by]
            if not reader.wanted and not reader.is_reading:
                self._read_later(request.seen_by, now)
            reader.wanted[b'"id":"%s"' % orjson.loads(connection.body)["id"].encode()] = now

    def _read_later(self, number: int, at: float) -> None:
        heapq.heappush(self._due, (at, number))

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()


class _Reader:
    """A follower that reads its page until all posts in `wanted` were on one of them."""

    def __init__(self, connection: Connection, page: bytes) -> None:
        self.connection = connection
        self.wanted: dict[bytes, float] = {}
        self.is_reading = False
        self._page = page

    def ask(self) -> None:
        self.is_reading = True
        self.connection.send("page", self._page)

    def take_page(self, now: float) -> list[float]:
        """Seconds from the answer until now, for each wanted post on the page that arrived."""
        self.is_reading = False
        seen = [text for text in self.wanted if text in self.connection.body]
        return [now - self.wanted.pop(text) for text in seen]

    def give_up(self, now: float) -> int:
        lost = [text for text, acked_at in self.wanted.items() if now - acked_at > GIVE_UP_S]
        for text in lost:
            del self.wanted[text]
        return len(lost)
