"""A client of a stream: it reads server-sent events, and comes back where it was."""

import http.client
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from lab.runner.port import HOST

PATH = "/api/v1/streaming/user"
_PIECE_BYTES, _TIMEOUT_S, _AGAIN_S, _BEGIN_S = 160, 60.0, 0.1, 30.0
# Of SO_LINGER: a close without a word, as of a network that is gone.
_RESET = struct.pack("ii", 1, 0)


class HeardEvent(NamedTuple):
    """`id`: the position that came with it. `connection`: the number of the client's connection."""

    at_s: float
    event: str
    data: str
    id: str
    connection: int

    @property
    def entity(self) -> str:
        """The id of what it shows, or that is gone."""
        return str(json.loads(self.data)["id"]) if self.data.startswith("{") else self.data

    @property
    def kind(self) -> str:
        """The event, or the type of a notification: "mention"."""
        is_notification = self.event == "notification"
        return str(json.loads(self.data)["type"]) if is_notification else self.event


@dataclass
class StreamClient:
    """It comes back until it ends. Safety: one thread reads; what it heard may be read any time.

    `cuts`: the chance that a connection breaks in the middle of an event, for each of its pieces.
    `is_quiet`: it never comes back: `ended_s` says when its stream ended.
    """

    port: int
    token: str
    rng: random.Random
    cuts: float = 0.0
    is_quiet: bool = False
    heard: list[HeardEvent] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    cut: int = 0
    connections: int = 0
    ended_s: float = 0.0
    last_id: str = ""

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def wait_until_open(self) -> None:
        """Until it has its first position. Raises TimeoutError."""
        end_s = time.monotonic() + _BEGIN_S
        while not self.last_id:
            if time.monotonic() > end_s:
                raise TimeoutError("a stream does not begin")
            time.sleep(0.01)

    def end(self) -> None:
        self._over.set()
        with suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
        self._thread.join()

    def entities(self, kind: str) -> list[str]:
        """What it has heard of, in the order."""
        return [heard.entity for heard in list(self.heard) if heard.kind == kind]

    def _run(self) -> None:
        while not self._over.is_set():
            with suppress(OSError, http.client.HTTPException, ValueError):
                self._read_one()
            self.ended_s = time.monotonic()
            if self.is_quiet and self.connections:
                return
            self._over.wait(_AGAIN_S)

    def _read_one(self) -> None:
        """One connection, until it ends. What came of an event that is not whole is forgotten."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "text/event-stream"}
        position = {"Last-Event-ID": self.last_id} if self.last_id else {}
        connection.request("GET", PATH, headers=headers | position)
        self._socket = connection.sock
        with connection.getresponse() as answer:
            if answer.status != 200:
                return
            self.connections += 1
            self.asked.append(self.last_id)
            self._take(answer)

    def _take(self, answer: http.client.HTTPResponse) -> None:
        text = b""
        while piece := answer.read1(_PIECE_BYTES):
            *blocks, text = (text + piece).split(b"\n\n")
            for block in blocks:
                self._note(block.decode())
            if b"event:" in text and self.rng.random() < self.cuts:
                self._cut()
                return

    def _cut(self) -> None:
        assert self._socket is not None
        self.cut += 1
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._socket.close()

    def _note(self, block: str) -> None:
        lines = (line.partition(": ") for line in block.split("\n"))
        fields = {name: value for name, _, value in lines if name}
        self.last_id = fields.get("id", self.last_id)
        if fields.get("event") == "resume":
            self.resumed.append(json.loads(fields["data"])["outcome"])
        elif "event" in fields:
            event = HeardEvent(
                time.monotonic(), fields["event"], fields["data"], self.last_id, self.connections
            )
            self.heard.append(event)


@contextmanager
def listening(clients: Collection[StreamClient]) -> Iterator[None]:
    """All of them listen during the block."""
    for client in clients:
        client.begin()
    try:
        for client in clients:
            client.wait_until_open()
        yield
    finally:
        for client in clients:
            client.end()


def wait_for(has_come: Callable[[], bool], within_s: float) -> bool:
    """Whether it came in time."""
    end_s = time.monotonic() + within_s
    while not has_come():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.02)
    return True
