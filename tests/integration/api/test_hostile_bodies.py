"""Huge, deep, slow and unfinished bodies to a running web server: all refused, no worker lost."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lab.services.process_tree import process_tree
from tests.browser.serving import running_site
from tests.callers import token_of
from tests.truth import everything_written
from tests.world import make_account

pytestmark = pytest.mark.slow

# Seconds that a body may take.
BODY_S = 1
SIZE, DEPTH = 10_000_000, 10_000
PATHS = ("/api/v1/statuses", "/api/v1/apps", "/oauth/token", "/auth/sign_in")
DEEP = b"[" * DEPTH + b"]" * DEPTH
DEEP_BODIES = (DEEP, b'{"status":%b}' % DEEP, b'{"a":' * DEPTH + b"1" + b"}" * DEPTH, b"[" * DEPTH)


class HostileClient:
    """Writes bytes to the web server at an address, with a token of a person."""

    def __init__(self, address: str, token: str) -> None:
        url = urlsplit(address)
        self._where = url.hostname, url.port
        self._token = token

    def open(self, path: str, body: bytes, length: int | None = None) -> socket.socket:
        """A connection on which a request was sent. `length`: what its header says."""
        opened = socket.create_connection(self._where, timeout=60)
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {self._token}\r\nConnection: close\r\n"
        size = len(body) if length is None else length
        opened.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode())
        with suppress(OSError):  # refused by then, and the rest is not read
            opened.sendall(body)
        return opened

    def post(self, path: str, body: bytes, length: int | None = None) -> int:
        with self.open(path, body, length) as opened:
            return status_of(opened)


def status_of(opened: socket.socket) -> int:
    return int(opened.recv(1 << 16).split(b" ", 2)[1])


def web_processes(log: Path) -> list[int]:
    """Of the web server that prints to this file."""
    mine = process_tree(os.getpid())
    return [pid for pid in mine if os.readlink(f"/proc/{pid}/fd/1") == str(log)]


@pytest.fixture
def client(world: None, tmp_path: Path) -> Iterator[HostileClient]:
    token = token_of(make_account(), "read write")
    with running_site(tmp_path / "web.log", "--body", str(BODY_S)) as address:
        yield HostileClient(address, token)


def test_each_hostile_body_is_refused_and_the_worker_lives(
    client: HostileClient, tmp_path: Path
) -> None:
    log = tmp_path / "web.log"
    workers, before = web_processes(log), everything_written()
    for path in PATHS:
        for body in (b'{"status":"%b"}' % (b"x" * SIZE), b"x" * SIZE):
            assert client.post(path, body) == 413, path
        assert client.post(path, b"", SIZE) == 413, "before the body is read"
    for body in DEEP_BODIES:
        assert client.post(PATHS[0], body) in {400, 422}
    assert everything_written() == before
    with ExitStack() as stack:
        slow = [stack.enter_context(client.open(path, b"{", 100)) for path in PATHS]
        assert client.post(PATHS[0], b'{"status":"hello"}') == 200, "others are served"
        assert {status_of(opened) for opened in slow} == {408}
    assert client.post(PATHS[0], b'{"status":"hello"}') == 200
    assert len(workers) > 1
    assert web_processes(log) == workers
