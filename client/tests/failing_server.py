"""A real HTTP server that fails in the ways of networks, proxies and restarts."""

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Frees the port with a reset instead of a regular end.
RESET = struct.pack("ii", 1, 0)
FAULTS = (
    "reset", "reset_in_head", "short_body", "bad_gateway", "unavailable", "unavailable_date",
    "timeout_of_proxy",
)  # fmt: skip


class FailingServer:
    """`faults`: what the next requests meet, in order. `answers`: by path; `asked`: `METHOD path`
    of each request. `keys`: their idempotency keys. `headers`: of the last one."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers, self.faults = answers, list[str]()
        self.asked, self.keys = list[str](), list[str | None]()
        self.headers: dict[str, str] = {}
        self.url = ""

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        self.asked.append(f"{handler.command} {path}")
        self.keys.append(handler.headers.get("Idempotency-Key"))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        fault = self.faults.pop(0) if self.faults else ""
        if fault:
            _FAULTS[fault](handler)
            return
        answer = self.answers[path]
        if callable(answer):
            answer(handler)
        else:
            send(handler, 200, json.dumps(answer).encode())


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content_Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    handler.connection.close()


def _reset_in_head(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-")
    _reset(handler)


def _short_body(handler: BaseHTTPRequestHandler) -> None:
    send(handler, 200, b'{"id": ', Content_Length="500")
    handler.close_connection = True


def _page_of_proxy(handler: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    send(handler, status, b"<html>nginx</html>", Content_Type="text/html", **headers)


def _in_a_moment() -> str:
    return format_datetime(datetime.now(UTC) - timedelta(seconds=1), usegmt=True)


_FAULTS = {
    "reset": _reset,
    "reset_in_head": _reset_in_head,
    "short_body": _short_body,
    "bad_gateway": lambda handler: _page_of_proxy(handler, 502),
    "unavailable": lambda handler: _page_of_proxy(handler, 503, Retry_After="0"),
    "unavailable_date": lambda handler: _page_of_proxy(handler, 503, Retry_After=_in_a_moment()),
    "timeout_of_proxy": lambda handler: _page_of_proxy(handler, 504),
}


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[FailingServer]:
    served = FailingServer(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return lambda: served.handle(self)
            raise AttributeError(name)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
