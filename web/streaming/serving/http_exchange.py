"""A request over HTTP. Its answer ends the connection."""

from collections.abc import Iterable
from email.utils import formatdate
from http import HTTPStatus

from websockets.http11 import Request

from web.streaming.serving.exchange import Event, Exchange, Wire


class HttpExchange(Exchange):
    kind = "http"
    first: Event = {"type": "http.request", "body": b"", "more_body": False}

    def __init__(self, wire: Wire, request: Request) -> None:
        super().__init__(wire, request)
        self._start: Event | None = None
        self._is_chunked = False

    async def send(self, event: Event) -> None:
        """The head waits for the first bytes of the body."""
        if event["type"] == "http.response.start":
            self._start = event
            return
        await self._wire.until_writable()
        body, has_more = event["body"], event.get("more_body", False)
        self._wire.write(self._begin(body, has_more) + self._encode(body, has_more))
        self.is_complete = not has_more

    def take(self, data: bytes) -> None:
        """A body, which nothing here reads, or a second request, which gets no answer."""

    def end(self) -> None:
        """The client has left."""
        self._give({"type": "http.disconnect"})

    def _begin(self, body: bytes, has_more: bool) -> bytes:
        if self._start is None:
            return b""
        status, headers = self._start["status"], list(self._start["headers"])
        self._start = None
        if not has_more:
            headers.append((b"content-length", b"%d" % len(body)))
        elif self.scope["http_version"] != "1.0":
            headers.append((b"transfer-encoding", b"chunked"))
            self._is_chunked = True
        return head_of(status, headers)

    def _encode(self, body: bytes, has_more: bool) -> bytes:
        if self.scope["method"] == "HEAD":
            return b""
        if not self._is_chunked:
            return body
        chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
        return chunk if has_more else chunk + b"0\r\n\r\n"


def head_of(status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """Of an answer after which the connection ends."""
    lines = [b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"date: " + formatdate(usegmt=True).encode(), b"connection: close"]
    lines += [b"%b: %b" % header for header in headers]
    return b"\r\n".join([*lines, b"", b""])
