"""The front of `make run`: it gives streams to one program, and all else to the other."""

import http.client
import http.server
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import pytest

from lab.runner.child import CHECKOUT
from lab.runner.front import as_last, is_of_streams
from lab.runner.port import HOST, free_port, is_answering
from tests.waiting import PATIENCE_S, until

HEAD = b"GET /api/v1/streaming/user HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"


class Program(http.server.BaseHTTPRequestHandler):
    """Says its name, what it was sent, and whether the connection goes on."""

    protocol_version = "HTTP/1.1"
    name = ""

    def do_GET(self):
        if self.headers.get("Upgrade"):
            self.connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            self.connection.sendall(self.rfile.readline().upper())
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Transfer-Encoding"):
            while (size := int(self.rfile.readline(), 16)) or not self.rfile.readline():
                body += self.rfile.read(size)
                self.rfile.readline()
        text = b" ".join([self.name.encode(), self.path.encode(), body])
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        """Says nothing."""


@contextmanager
def serving(name):
    handler = type(name, (Program,), {"name": name})
    server = http.server.ThreadingHTTPServer((HOST, 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def port():
    with ExitStack() as stack:
        behind = [stack.enter_context(serving(name)) for name in ("web", "streams")]
        port = free_port()
        command = [sys.executable, "-m", "lab.runner.front", *map(str, (port, *behind))]
        front = subprocess.Popen(command, cwd=CHECKOUT)
        stack.callback(front.wait)
        stack.callback(front.terminate)
        until(lambda: is_answering(port, "/"))
        yield port


def ask(connection, method, path, body=None, **options):
    connection.request(method, path, body, **options)
    answer = connection.getresponse()
    return answer.read().decode(), answer.will_close


def test_requests_of_one_connection_go_where_they_belong(port):
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    assert ask(connection, "GET", "/a?b=/api/v1/streaming") == (
        "web /a?b=/api/v1/streaming ",
        False,
    )
    assert ask(connection, "POST", "/b", b"c" * 200_000)[0] == "web /b " + "c" * 200_000
    sent = {"encode_chunked": True, "headers": {"Transfer-Encoding": "chunked"}}
    assert ask(connection, "POST", "/d", iter([b"e", b"f" * 9]), **sent) == (
        "web /d e" + "f" * 9,
        False,
    )
    own = connection.sock
    assert ask(connection, "GET", "/g") == ("web /g ", False)
    assert connection.sock is own, "one connection for all"
    assert ask(connection, "GET", "/api/v1/streaming/user?x=1") == (
        "streams /api/v1/streaming/user?x=1 ",
        False,
    )
    connection.close()


def test_a_socket_is_passed_on_as_it_is(port):
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as client:
        client.sendall(HEAD.replace(b"keep-alive", b"Upgrade\r\nUpgrade: websocket") + b"hello\n")
        said = b""
        while piece := client.recv(1024):
            said += piece
    assert said.startswith(b"HTTP/1.1 101 ") and said.endswith(b"HELLO\n")


def test_the_connection_of_a_stream_is_its_last():
    """Else a client would send its next request to the streams."""
    assert as_last(HEAD) == HEAD.replace(b"keep-alive", b"close")
    upgrade = HEAD.replace(b"keep-alive", b"Upgrade\r\nUpgrade: websocket")
    assert as_last(upgrade) == upgrade


@pytest.mark.parametrize(
    ("target", "is_stream"),
    [
        (b"/api/v1/streaming", True),
        (b"/api/v1/streaming/user", True),
        (b"/api/v1/streaming?stream=user", True),
        (b"/api/v1/streamings", False),
        (b"/?next=/api/v1/streaming", False),
    ],
)
def test_paths_of_streams(target, is_stream):
    assert is_of_streams(b"GET %b HTTP/1.1\r\n\r\n" % target) is is_stream
