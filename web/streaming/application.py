"""The ASGI application of the streaming process."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from web.draining import is_draining
from web.streaming import service_events
from web.streaming.errors import MethodRefused, StreamMissing, StreamRefused
from web.streaming.metrics import REFUSED
from web.streaming.requests import read_request
from web.streaming.responses import (
    Send,
    answer_health,
    answer_options,
    answer_refusal,
    refuse_socket,
)
from web.streaming.socket import serve_socket
from web.streaming.sse import Receive, serve_sse
from web.streaming.streams import Streams

Scope = MutableMapping[str, Any]
ROOT = "/api/v1/streaming"
HEALTH = (f"{ROOT}/health", "/health/live", "/health/ready")
_GET = ("GET", "HEAD")


class StreamingApplication:
    """`most`: open streams of this process."""

    def __init__(self, most: int) -> None:
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            await answer_options(send, read_request(scope))
        elif scope["method"] in _GET and scope["path"].rstrip("/") in HEALTH:
            await answer_health(send, is_draining())
        else:
            await self._serve_sse(scope, receive, send)

    async def start(self) -> None:
        """Returns when clients may come."""
        self._streams = Streams(self._most)
        await self._streams.start()

    async def stop(self) -> None:
        await self._streams.stop()

    async def _serve_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = read_request(scope)
        try:
            path = _path_below_root(scope)
            if scope["method"] != "GET":
                raise MethodRefused("Streams are read with GET")
            if path == service_events.PATH:
                await service_events.serve_events(self._streams, request, receive, send)
            else:
                await serve_sse(self._streams, path, request, receive, send)
        except StreamRefused as error:
            REFUSED.labels(str(error.status)).inc()
            await answer_refusal(send, request, error)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path = _path_below_root(scope)
            await serve_socket(self._streams, path, read_request(scope), receive, send)
        except StreamRefused as error:
            REFUSED.labels(str(error.status)).inc()
            await refuse_socket(send, error)


def _path_below_root(scope: Mapping[str, Any]) -> str:
    path: str = scope["path"].rstrip("/")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise StreamMissing("This server has only streams, at /api/v1/streaming")
    return path.removeprefix(ROOT)
