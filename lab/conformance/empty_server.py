"""A server that answers `{}` to everything: no test of a client may pass against it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lab.conformance.instance import ClientTarget
from lab.runner.port import HOST

_BODY = b"{}"
_NAMES = ("CLIENT_ID", "CLIENT_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_2", "ACCESS_TOKEN_3")


class EmptyAnswers(BaseHTTPRequestHandler):
    """200 and `{}` for every method and path."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - found by name

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the suites make thousands of requests."""


@contextmanager
def empty_server() -> Iterator[ClientTarget]:
    """The server during the block."""
    server = ThreadingHTTPServer((HOST, 0), EmptyAnswers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://localhost:{server.server_port}"
        yield ClientTarget(url, {name: f"nothing-{name.lower()}" for name in _NAMES})
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
