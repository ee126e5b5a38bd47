"""The streaming server: a process of its own, on the test's databases and Redis."""

import http.client
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lab.runner.child import Child
from lab.runner.port import HOST, free_port, is_answering
from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S, until

HEALTH = "/api/v1/streaming/health"


@contextmanager
def running_streams(
    log: Path, program: Sequence[str] = ("-m", "web.streaming"), port: int = 0, **environment: str
) -> Iterator[tuple[Child, int]]:
    """The process and its port. `program`: arguments of Python. `port` 0: a free one. Cost: 3 s."""
    port = port or free_port()
    argv = [sys.executable, *program, "--port", str(port), "--linger", "1.5"]
    child = Child("streaming", argv, log, environment_of_this_test() | environment)
    child.begin()
    try:
        until(lambda: is_answering(port, HEALTH), said=log.read_text)
        yield child, port
    finally:
        child.stop()


class Reader:
    """A client over HTTP, which reads in a thread."""

    def __init__(self, port: int, token: str, path: str = "user", last_id: str = "") -> None:
        self.connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {token}", "Last-Event-ID": last_id}
        headers["Accept"] = "text/event-stream"
        self.connection.request(
            "GET", f"/api/v1/streaming/{path}", headers={k: v for k, v in headers.items() if v}
        )
        # The answer of a stream takes the socket away from the connection.
        self.socket = self.connection.sock
        self.answer = self.connection.getresponse()
        self.lines: list[str] = []
        self.has_ended = threading.Event()

    def start(self) -> "Reader":
        threading.Thread(target=self._read, daemon=True).start()
        until(lambda: self.lines)
        return self

    def events(self) -> list[str]:
        return self._fields("event")

    def last_id(self) -> str:
        return self._fields("id")[-1]

    def close(self) -> None:
        """Ends the reading too."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.has_ended.wait()
        self.answer.close()
        self.connection.close()

    def _fields(self, name: str) -> list[str]:
        return [line[len(name) + 2 :] for line in self.lines if line.startswith(f"{name}: ")]

    def _read(self) -> None:
        try:
            for line in self.answer:
                self.lines.append(line.decode().rstrip("\n"))
        except (OSError, http.client.HTTPException, ValueError):
            pass
        self.has_ended.set()


def texts_of(stream: Any, count: int) -> list[str]:
    """The next messages of a WebSocket."""
    return [str(stream.recv(timeout=PATIENCE_S)) for _ in range(count)]
