"""The front: the host of a request says which site it is for, and its path which process."""

import asyncio
import http.client
import http.server
import json
import socket
import threading
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager

import pytest

from lab.runner.port import HOST, free_port
from tests.waiting import PATIENCE_S
from web.front.front import Front
from web.front.heads import MOST_HEAD_BYTES
from web.front.refusals import SUSPENDED, UNAVAILABLE
from web.front.routes import Backend, Routes, ServerAddress

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


@contextmanager
def front_of(routes):
    """Its port. It runs in a loop of its own."""
    started = Future()

    async def run():
        serve = Front(routes).serve
        server = await asyncio.start_server(serve, HOST, 0, limit=MOST_HEAD_BYTES)
        stopped = asyncio.Event()
        started.set_result(
            (server.sockets[0].getsockname()[1], asyncio.get_running_loop(), stopped)
        )
        await stopped.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    port, loop, stopped = started.result(PATIENCE_S)
    yield port
    loop.call_soon_threadsafe(stopped.set)
    thread.join(PATIENCE_S)


@pytest.fixture
def backends():
    names = ("web", "streams", "shop-web", "shop-streams")
    with ExitStack() as stack:
        ports = [stack.enter_context(serving(name)) for name in names]
        addresses = [ServerAddress(HOST, port) for port in ports]
        yield Backend(*addresses[:2]), Backend(*addresses[2:])


@pytest.fixture
def routes(backends):
    return Routes(backends[0], ["feed.example.org", HOST])


@pytest.fixture
def port(routes):
    with front_of(routes) as port:
        yield port


@pytest.fixture
def shop(routes, backends):
    routes.replace(
        {
            "shop.example.org": backends[1],
            "closed.example.org": SUSPENDED,
            "new.example.org": UNAVAILABLE,
            "gone.example.org": Backend(*[ServerAddress(HOST, free_port())] * 2),
        }
    )


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


def answer_of(port, host, path="/", method="GET"):
    """The status, the text, and when to try again."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    text = answer.read().decode()
    assert connection.sock is None or answer.status == 200, "a refusal ends the connection"
    connection.close()
    return answer.status, text, answer.headers["Retry-After"]


def test_without_tenants_each_name_is_of_the_installation(port):
    assert answer_of(port, "any.example.org") == (200, "web / ", None)


def test_the_host_chooses_the_tenant(port, shop):
    assert answer_of(port, "Shop.example.org:8000")[1] == "shop-web / "
    assert answer_of(port, "shop.example.org", "/api/v1/streaming")[1].startswith("shop-streams ")
    assert answer_of(port, "feed.example.org")[1] == "web / "
    assert answer_of(port, f"{HOST}:{port}")[1] == "web / "


@pytest.mark.parametrize("path", ["/", "/api/v1/streaming/user"])
@pytest.mark.parametrize(
    ("host", "status", "text"),
    [
        ("other.example.org", 421, "There is no site of this name here"),
        ("closed.example.org", 403, "This site is suspended"),
        ("new.example.org", 503, "Temporarily unavailable, try again later"),
        ("gone.example.org", 503, "Temporarily unavailable, try again later"),
    ],
)
def test_what_cannot_be_served_is_said(port, shop, host, status, text, path):
    retry = "2" if status == 503 else None
    assert answer_of(port, host, path) == (status, json.dumps({"error": text}), retry)


def test_a_browser_gets_a_page(port, shop):
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    headers = {"Host": "closed.example.org", "Accept": "text/html,*/*;q=0.8"}
    connection.request("GET", "/", headers=headers)
    answer = connection.getresponse()
    assert (answer.status, answer.headers.get_content_type()) == (403, "text/html")
    assert "<h1>This site is suspended</h1>" in answer.read().decode()
    connection.close()


def test_a_refused_head_has_no_body(port, shop):
    assert answer_of(port, "other.example.org", method="HEAD")[:2] == (421, "")


def test_one_connection_may_ask_several_tenants_in_turn(port, shop):
    """As a proxy does that keeps connections."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    hosts = ("shop.example.org", "feed.example.org", "feed.example.org", "shop.example.org")
    said = [
        ask(connection, "POST", "/a", b"x" * 100_000, headers={"Host": host})[0][:8]
        for host in hosts
    ]
    assert said == ["shop-web", "web /a x", "web /a x", "shop-web"]
    own = connection.sock
    assert ask(connection, "GET", "/b", headers={"Host": "shop.example.org"})[0] == "shop-web /b "
    assert connection.sock is own
    connection.close()


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\n\r\n", b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"]
)
def test_what_is_no_request_is_400(port, sent):
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as client:
        client.sendall(sent)
        assert client.recv(1024).startswith(b"HTTP/1.1 400 Bad Request\r\n")
