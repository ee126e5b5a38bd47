"""A small server that speaks as much of S3 as the store of images needs, on this machine alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def bucket() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Its address, and the objects that it has."""
    objects: dict[str, bytes] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(objects))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", objects
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler_of(objects: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            objects[self.path] = self._read_body()
            self._answer(200, b"")

        def do_GET(self) -> None:
            content = objects.get(self.path)
            missing = b"<Error><Code>NoSuchKey</Code></Error>"
            self._answer(*((404, missing) if content is None else (200, content)))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            objects.pop(self.path, None)
            self._answer(204, b"")

        def _read_body(self) -> bytes:
            if self.headers.get("Expect"):
                self.send_response_only(100)
                self.end_headers()
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
                return body
            size, _, after = body.partition(b"\r\n")
            return after[: int(size.split(b";")[0], 16)]

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler
