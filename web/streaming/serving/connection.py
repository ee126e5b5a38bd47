"""One connection: one request, and what follows it. Its bytes come in small pieces, and slowly if
they are many, so no client fills the memory or takes the event loop from the others."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, cast

import structlog
from websockets.exceptions import HeaderLineTooLong, RequestLineTooLong, TooManyHeaders
from websockets.http11 import Request

from web.streaming.serving.http_exchange import HttpExchange, head_of
from web.streaming.serving.socket_exchange import SocketExchange, new_protocol

Application = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]
# For the head of a request, and for the client to leave after the last byte.
HEAD_S, LEAVE_S = 15.0, 5.0
_MOST_HEAD_BYTES = 64 * 1024
# What a client may send at once: its head and some hundred messages. Then so much in a second.
QUICK_BYTES, BYTES_PER_S = 2 * 64 * 1024, 16 * 1024
_HEAD_END = b"\r\n\r\n"
_TOO_LONG = (HeaderLineTooLong, RequestLineTooLong, TooManyHeaders)
# Of all connections: each piece is taken before the next one is read.
_BUFFER = memoryview(bytearray(4096))
log = structlog.get_logger()


class StreamingConnection(asyncio.BufferedProtocol):
    """`on_lost`: called once, after its end."""

    def __init__(self, application: Application, on_lost: Callable[[], None]) -> None:
        self._application, self._on_lost = application, on_lost
        self._head = bytearray()
        self._received_bytes = 0
        self._exchange: HttpExchange | None = None
        self._is_resting = self._is_leaving = False
        self._writable = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.client: tuple[str, int] = transport.get_extra_info("peername") or ("", 0)
        self._writable.set()
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.call_later(HEAD_S, self._transport.abort)

    def connection_lost(self, error: Exception | None) -> None:
        self._deadline.cancel()
        self._writable.set()
        if self._exchange is not None:
            self._exchange.end()
        self._on_lost()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_leaving:
            pass
        elif self._exchange is not None:
            self._exchange.take(bytes(_BUFFER[:nbytes]))
        else:
            self._take_head(_BUFFER[:nbytes])
        self._rest(nbytes)
        self.choose_reading()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    @property
    def is_writable(self) -> bool:
        return self._writable.is_set()

    async def until_writable(self) -> None:
        await self._writable.wait()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def choose_reading(self) -> None:
        is_behind = self._exchange is not None and not self._exchange.may_read
        if self._is_resting or (is_behind and not self._is_leaving):
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _rest(self, count: int) -> None:
        self._received_bytes += count
        if self._received_bytes > QUICK_BYTES:
            self._is_resting = True
            self._loop.call_later(count / BYTES_PER_S, self._end_rest)

    def _end_rest(self) -> None:
        self._is_resting = False
        self.choose_reading()

    def _take_head(self, data: memoryview) -> None:
        self._head += data
        head, end, _ = self._head.partition(_HEAD_END)
        if end:
            self._head.clear()
            self._begin(bytes(head + end))
        elif len(self._head) > _MOST_HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _begin(self, head: bytes) -> None:
        protocol = new_protocol()
        protocol.receive_data(head)
        request = next(iter(protocol.events_received()), None)
        if not isinstance(request, Request):
            is_long = isinstance(protocol.handshake_exc, _TOO_LONG)
            self._refuse(431 if is_long else 400)
        elif request.headers.get("Upgrade", "").lower() != "websocket":
            self._serve(HttpExchange(self, request))
        elif (response := protocol.accept(request)).status_code == 101:
            self._serve(SocketExchange(self, request, protocol, response))
        else:
            self._refuse(response.status_code)

    def _serve(self, exchange: HttpExchange) -> None:
        self._deadline.cancel()
        self._exchange = exchange
        # The loop has only a weak reference to it.
        self._task = self._loop.create_task(self._run(exchange))

    async def _run(self, exchange: HttpExchange) -> None:
        try:
            await self._application(exchange.scope, exchange.receive, exchange.send)
        except Exception:
            log.exception("streaming.request_failed", path=exchange.scope["path"])
        if exchange.is_complete:
            self._leave()
        else:
            # It reads too slowly, or the fault is ours: what waits for it is not sent.
            self._transport.abort()

    def _refuse(self, status: int) -> None:
        self.write(head_of(status, [(b"content-length", b"0")]))
        self._leave()

    def _leave(self) -> None:
        """The client closes first, so that it gets all: bytes that are not read break a connection
        that is closed."""
        self._is_leaving = True
        self._deadline.cancel()
        if self._transport.is_closing():
            return
        self._deadline = self._loop.call_later(LEAVE_S, self._transport.abort)
        self.choose_reading()
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.abort()
