"""A WebSocket. The library `websockets` has the protocol, and refuses a frame by its header."""

import logging
from typing import TypeGuard

from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import CONNECTING, OPEN
from websockets.server import ServerProtocol

from web.streaming.serving.exchange import Event, Wire
from web.streaming.serving.http_exchange import HttpExchange

# Of a message with all its frames. Clients ask for a stream in less than a hundred.
MOST_MESSAGE_BYTES = 64 * 1024
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
_LOG = logging.getLogger("streaming.websocket")
_LOG.setLevel(logging.CRITICAL)


def new_protocol() -> ServerProtocol:
    """Of a connection. It also reads the head of any request. It offers no compression: few bytes
    could become many."""
    return ServerProtocol(max_size=MOST_MESSAGE_BYTES, logger=_LOG)


class SocketExchange(HttpExchange):
    """`response`: to the handshake, already accepted by the protocol."""

    kind = "websocket"
    first: Event = {"type": "websocket.connect"}

    def __init__(
        self, wire: Wire, request: Request, protocol: ServerProtocol, response: Response
    ) -> None:
        super().__init__(wire, request)
        offered = request.headers.get_all("Sec-WebSocket-Protocol")
        self.scope["subprotocols"] = [name.strip() for each in offered for name in each.split(",")]
        self._protocol, self._response = protocol, response
        # Of the message whose last frame has not come.
        self._message, self._is_text = bytearray(), False

    @property
    def may_read(self) -> bool:
        return self._protocol.state is not CONNECTING and super().may_read

    async def send(self, event: Event) -> None:
        """A client that has left gets nothing."""
        await self._wire.until_writable()
        if event["type"].startswith("websocket.http."):
            await super().send({**event, "type": event["type"].removeprefix("websocket.")})
        elif event["type"] == "websocket.accept":
            self._accept(event.get("subprotocol"))
        elif self._protocol.state is OPEN and event["type"] == "websocket.send":
            self._protocol.send_text(event["text"].encode())
        elif self._protocol.state is OPEN:
            self._protocol.send_close(event["code"])
        self._flush()

    def take(self, data: bytes) -> None:
        """From the client."""
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if _is_data(event):
                self._take_data(event)
        self._flush()
        if self.is_complete:
            self.end()

    def end(self) -> None:
        self._give({"type": "websocket.disconnect", "code": CloseCode.ABNORMAL_CLOSURE})

    def _accept(self, subprotocol: str | None) -> None:
        if subprotocol is not None:
            self._response.headers["Sec-WebSocket-Protocol"] = subprotocol
        self._protocol.send_response(self._response)
        self._wire.choose_reading()

    def _take_data(self, frame: Frame) -> None:
        if frame.opcode is not Opcode.CONT:
            self._message, self._is_text = bytearray(), frame.opcode is Opcode.TEXT
        self._message += frame.data
        if frame.fin:
            self._end_message(bytes(self._message))

    def _end_message(self, message: bytes) -> None:
        self._message = bytearray()
        if not self._is_text:
            self._give({"type": "websocket.receive", "bytes": message})
            return
        try:
            self._give({"type": "websocket.receive", "text": message.decode()})
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA)

    def _flush(self) -> None:
        """A client that reads nothing gets no answers to its pings: they would pile up."""
        data = b"".join(self._protocol.data_to_send())
        was_open = self._protocol.state is OPEN
        if data and (self._wire.is_writable or not was_open):
            self._wire.write(data)
        self.is_complete |= not was_open


def _is_data(event: Frame | Request | Response) -> TypeGuard[Frame]:
    return isinstance(event, Frame) and event.opcode in _DATA
