"""An open loop: requests at a fixed rate. It also sees when a post is visible to a reader."""

import gc
import heapq
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import orjson

from lab.load.connection import Connection
from lab.load.loop import LoadLoop, LoadRequest, SentRequest, fixed_rate, refuse_errors

READ_EVERY_S = 0.002
UNSEEN_S = 10.0
MOST_UNANSWERED = 32


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
    requests: Iterator[LoadRequest],
    per_s: float,
    seconds: float,
    pages: Sequence[bytes] = (),
) -> PacedResult:
    """Sends `per_s` requests a second, and returns when all are answered and seen.

    `pages`: for each reader the request for its page. Raises ConnectionError.
    """
    with _without_collections(), _Paced(address, pages) as load:
        load.result.elapsed_s = load.run(requests, fixed_rate(per_s, seconds))
        return load.result


@contextmanager
def _without_collections() -> Iterator[None]:
    """A collection in the client would look like a slow answer."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Paced(LoadLoop):
    def __init__(self, address: tuple[str, int], pages: Sequence[bytes]) -> None:
        super().__init__(address, MOST_UNANSWERED)
        self.result = PacedResult()
        self._readers = [_Reader(self.open(), page) for page in pages]
        self._reader_of = {reader.connection: reader for reader in self._readers}
        # Readers that read again: when, and their number.
        self._due: list[tuple[float, int]] = []

    def is_waiting(self) -> bool:
        return super().is_waiting() or any(reader.wanted for reader in self._readers)

    def act_when_due(self) -> float:
        """Lets the readers ask whose time has come."""
        now = time.perf_counter()
        while self._due and self._due[0][0] <= now:
            self._readers[heapq.heappop(self._due)[1]].ask()
        return self._due[0][0] if self._due else math.inf

    def take(self, connection: Connection, now: float) -> None:
        refuse_errors(connection)
        reader = self._reader_of.get(connection)
        if reader is None:
            super().take(connection, now)
            return
        self.result.visible_s += reader.take_page(now)
        self.result.unseen += reader.give_up(now)
        if reader.wanted:
            self._read_later(self._readers.index(reader), now + READ_EVERY_S)

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        self.result.latencies_s.setdefault(sent.request.kind, []).append(now - sent.turn_at)
        self.result.refused += connection.status >= 400
        number = sent.request.seen_by
        if self._readers and number is not None and connection.status < 400:
            reader = self._readers[number]
            if not reader.wanted and not reader.is_reading:
                self._read_later(number, now)
            reader.wanted[b'"id":"%s"' % orjson.loads(connection.body)["id"].encode()] = now

    def _read_later(self, number: int, at: float) -> None:
        heapq.heappush(self._due, (at, number))


class _Reader:
    """A follower that reads its page until all posts in `wanted` were on one of them."""

    def __init__(self, connection: Connection, page: bytes) -> None:
        self.connection = connection
        self.wanted: dict[bytes, float] = {}
        self.is_reading = False
        self._page = page

    def ask(self) -> None:
        self.is_reading = True
        self.connection.send(self._page)

    def take_page(self, now: float) -> list[float]:
        """Seconds from the answer until now, for each wanted post on the page that arrived."""
        self.is_reading = False
        seen = [text for text in self.wanted if text in self.connection.body]
        return [now - self.wanted.pop(text) for text in seen]

    def give_up(self, now: float) -> int:
        lost = [text for text, acked_at in self.wanted.items() if now - acked_at > UNSEEN_S]
        for text in lost:
            del self.wanted[text]
        return len(lost)
