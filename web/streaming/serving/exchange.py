"""What a connection and the application say to each other about one request, as ASGI has it."""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import unquote

from websockets.http11 import Request

Event = Mapping[str, Any]


class Wire(Protocol):
    """The connection, as an exchange uses it."""

    client: tuple[str, int]

    @property
    def is_writable(self) -> bool:
        """Whether the client takes what it gets."""

    async def until_writable(self) -> None:
        """Also returns when the client has left."""

    def write(self, data: bytes) -> None:
        """Without waiting."""

    def choose_reading(self) -> None:
        """`may_read` may have changed."""


class Exchange:
    """`is_complete`: the last byte for the client is written. `first`: the first event."""

    kind: str
    first: Event

    def __init__(self, wire: Wire, request: Request) -> None:
        self._wire = wire
        self.scope = _scope_of(self.kind, request, wire.client)
        self.is_complete = False
        self._events = deque([self.first])
        self._waiter: asyncio.Future[None] | None = None

    @property
    def may_read(self) -> bool:
        """Whether the application has taken all that came."""
        return not self._events

    async def receive(self) -> Event:
        while not self._events:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        event = self._events.popleft()
        self._wire.choose_reading()
        return event

    def _give(self, event: Event) -> None:
        self._events.append(event)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _scope_of(kind: str, request: Request, client: tuple[str, int]) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    headers = [
        (name.lower().encode("ascii"), value.encode("latin-1"))
        for name, value in request.headers.raw_items()
    ]
    return {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": request.protocol.removeprefix("HTTP/"),
        "method": request.method,
        "path": unquote(path),
        "query_string": query.encode("ascii"),
        "headers": headers,
        "client": client,
    }
