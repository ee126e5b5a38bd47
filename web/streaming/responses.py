"""The short answers: errors, health, and what a browser asks before it connects."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from web.streaming.errors import FeedGone, StreamRefused
from web.streaming.requests import StreamRequest, own_origin

Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
_RETRIED = (429, 503)


def cross_origin(request: StreamRequest) -> Headers:
    """Any page may listen with a token of its own. Pages of this site may use their session."""
    if request.headers.get("origin") == own_origin():
        return [
            (b"access-control-allow-origin", own_origin().encode()),
            (b"access-control-allow-credentials", b"true"),
            (b"vary", b"origin"),
        ]
    return [(b"access-control-allow-origin", b"*")]


async def answer_refusal(send: Send, request: StreamRequest, error: StreamRefused) -> None:
    headers = [*_headers_of(error), *cross_origin(request)]
    await _answer(send, error.status, headers, _body_of(error))


async def refuse_socket(send: Send, error: StreamRefused) -> None:
    """Instead of the upgrade."""
    start = {"type": "websocket.http.response.start", "status": error.status}
    await send(start | {"headers": _headers_of(error)})
    await send({"type": "websocket.http.response.body", "body": _body_of(error)})


async def answer_health(send: Send, is_draining: bool) -> None:
    headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
    status, body = (503, b"draining") if is_draining else (200, b"OK")
    await _answer(send, status, headers, body)


async def answer_options(send: Send, request: StreamRequest) -> None:
    allowed = [
        (b"access-control-allow-methods", b"GET, OPTIONS"),
        (b"access-control-allow-headers", b"Authorization, Accept, Cache-Control, Last-Event-ID"),
        (b"access-control-max-age", b"86400"),
    ]
    await _answer(send, 204, [*cross_origin(request), *allowed], b"")


async def _answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _headers_of(error: StreamRefused) -> Headers:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    return (
        [*headers, (b"retry-after", b"%d" % error.retry_s)] if error.status in _RETRIED else headers
    )


def _body_of(error: StreamRefused) -> bytes:
    code = {"code": error.code} if isinstance(error, FeedGone) else {}
    return orjson.dumps({"error": error.text, **code})
