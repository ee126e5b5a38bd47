"""The loop of every load: it sends requests when their turn comes, over several connections.

One thread with a selector, so that the client itself costs little. The turns make the loop open
(a fixed rate, however long the answers take) or closed (the next one as soon as a connection is
free). A latency counts from the turn of its request, also when all connections were busy then.
"""

import math
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Self

from lab.load.connection import Connection


class LoadRequest(NamedTuple):
    """`kind`: of the group of its latencies. `seen_by`: the number of the reader whose page will
    show the new post; None: no reader."""

    request: bytes
    kind: str = "write"
    seen_by: int | None = None


class SentRequest(NamedTuple):
    """`turn_at`: when it was due, on the clock of time.perf_counter."""

    turn_at: float
    request: LoadRequest


LONGEST_WAIT_S = 0.1
# Gets how many were sent, and the seconds since the begin. Returns in which second the next one is
# due; None: there is no other.
Turns = Callable[[int, float], float | None]


def fixed_rate(per_s: float, seconds: float) -> Turns:
    """The turns of an open loop."""
    last = round(per_s * seconds)
    return lambda sent, _: sent / per_s if sent < last else None


def without_pause(seconds: float) -> Turns:
    """The turns of a closed loop."""
    return lambda _, now_s: now_s if now_s < seconds else None


class LoadLoop:
    """A subclass says what it does with an answer. Its connections are closed at the end of `with`.

    A server that answers 5xx or closes a connection ends the load, unless a subclass says
    otherwise.
    """

    # A client that waits longer closes its connection.
    give_up_s = math.inf

    def __init__(self, address: tuple[str, int], connections: int, source: str = "") -> None:
        self._address, self._source = address, source
        self._selector = selectors.DefaultSelector()
        # In turn, because a server closes connections that were idle for long.
        self._free = deque(self.open() for _ in range(connections))
        self._busy: dict[Connection, SentRequest] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        """The complete answer is in the connection."""
        raise NotImplementedError

    def lost(self, sent: SentRequest | None, error: OSError, now: float) -> None:
        """There is no answer: the server closed the connection, or the client gave up.

        None: nothing was sent on this connection.
        """
        raise error

    def open(self) -> Connection:
        connection = Connection(self._address, self._source)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def run(self, requests: Iterator[LoadRequest], turns: Turns) -> float:
        """Returns when all are answered, with the seconds until the last turn."""
        began, sent, took_s = time.perf_counter(), 0, 0.0
        while True:
            now_s = time.perf_counter() - began
            due_s = turns(sent, now_s)
            while due_s is not None and self._free and due_s <= now_s:
                self._send(next(requests), began + due_s)
                sent += 1
                due_s = turns(sent, now_s)
            if due_s is None:
                took_s = took_s or now_s
                if not self.is_waiting():
                    return took_s
            self._receive(began + due_s if due_s is not None and self._free else math.inf)

    def is_waiting(self) -> bool:
        return bool(self._busy)

    def act_when_due(self) -> float:
        """Does what else is due now. Returns when it must be called again at the latest."""
        return math.inf

    def take(self, connection: Connection, now: float) -> None:
        """A complete answer."""
        sent = self._busy.pop(connection)
        self.answered(connection, sent, now)
        if connection.is_closing:
            self._close(connection)
            connection = self.open()
        self._free.append(connection)

    def _send(self, request: LoadRequest, turn_at: float) -> None:
        connection = self._free.popleft()
        self._busy[connection] = SentRequest(turn_at, request)
        try:
            connection.send(request.request)
        except OSError as error:
            self._lose(connection, error)

    def _receive(self, turn_at: float) -> None:
        """Waits for answers until the next turn, and takes those that are there."""
        now = time.perf_counter()
        wait_s = min(turn_at, self.act_when_due()) - now
        for key, _ in self._selector.select(max(0.0, min(wait_s, LONGEST_WAIT_S))):
            connection = key.data
            try:
                is_complete = connection.receive()
            except OSError as error:
                self._lose(connection, error)
                continue
            if is_complete:
                self.take(connection, time.perf_counter())
        self._give_up(now)

    def _give_up(self, now: float) -> None:
        """The one that was sent first waits longest."""
        while self._busy:
            connection, sent = next(iter(self._busy.items()))
            if sent.turn_at > now - self.give_up_s:
                return
            self._lose(connection, TimeoutError("no answer"))

    def _lose(self, connection: Connection, error: OSError) -> None:
        self._close(connection)
        self.lost(self._busy.pop(connection, None), error, time.perf_counter())
        if connection in self._free:
            self._free.remove(connection)
        self._free.append(self.open())

    def _close(self, connection: Connection) -> None:
        self._selector.unregister(connection.socket)
        connection.socket.close()


def refuse_errors(connection: Connection) -> None:
    """Raises RuntimeError for a 5xx: figures of a server with errors say nothing."""
    if connection.status >= 500:
        raise RuntimeError(f"{connection.status} {connection.body[:500]!r}")
