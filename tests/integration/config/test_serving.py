"""The web server: who waits is bounded, and slow clients hold nothing. Over HTTP, one process."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL

import pytest

from lab.load.flood import LOST, flood
from lab.runner.child import CHECKOUT
from lab.runner.port import free_port, is_answering
from lab.services.process_tree import process_tree, send
from tests.services import are_gone
from tests.small_web import LIMITS, PIECE, PIECES
from tests.waiting import until

HOST = "127.0.0.1"
# What no answer takes that waits for nothing, on a machine with ten times too much to do.
SOON_S = 5.0
# The promise for workers without a main process: twice the time that they leave themselves.
ORPHANS_S = 1.0
# The promise of an overload's end.
AFTER_FLOOD_S = 2.0
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = re.compile(rb"^\{.*\}", re.MULTILINE)
SLOW_BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx"


@dataclass
class Web:
    """`begun`: where the log was when the test began."""

    port: int
    process: subprocess.Popen
    log: Path
    begun: int = 0

    def ask(self, path="/", method="GET", body=None, headers=()):
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.headers, json.loads(answer.read())
        finally:
            connection.close()

    def open(self, data, source="127.0.0.1"):
        """A connection on which `data` was sent."""
        opened = socket.create_connection((HOST, self.port), 30, (source, 0))
        opened.sendall(data)
        return opened

    def served(self, path):
        """How often, since the test began."""
        return self.log.read_text()[self.begun :].splitlines().count(path)


@pytest.fixture(scope="module")
def start_web(tmp_path_factory):
    folder = tmp_path_factory.mktemp("webs")
    with ExitStack() as stack:

        def start(port, workers=1):
            log = folder / f"web{len(list(folder.iterdir()))}.log"
            argv = [sys.executable, "-m", "tests.small_web", str(port), str(workers), str(log)]
            environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
            output = stack.enter_context(log.open("w"))
            process = subprocess.Popen(
                argv, cwd=CHECKOUT, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            until(lambda: is_answering(port, "/"), said=log.read_text)
            return Web(port, process, log)

        yield start


@pytest.fixture(scope="module")
def shared_web(start_web):
    """A start takes longer than most tests."""
    return start_web(free_port())


@pytest.fixture
def web(shared_web):
    """When all that earlier tests left has ended."""
    assert until(lambda: shared_web.ask("/", "POST", "text")[0] == 200)
    return replace(shared_web, begun=len(shared_web.log.read_text()))


def test_a_query_that_was_not_encoded_has_each_byte_as_one_character(web):
    """Django answers 500 to any other."""
    with socket.create_connection((HOST, web.port), timeout=10) as opened:
        opened.sendall("GET /a?q=\u6771 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answer = opened.makefile("rb").read()
    seen = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert seen["QUERY_STRING"] == "q=\u6771".encode().decode("latin-1")


def test_the_application_sees_the_request_as_it_was_sent(web):
    headers = {"X-Two": "2", "Cookie": "a=b", "Content-Type": "text/plain"}
    status, _, seen = web.ask("/a%C3%A4b?q=%20", "POST", "text", headers)
    assert status == 200
    assert seen["PATH_INFO"] == "/aäb".encode().decode("latin-1")
    assert seen["QUERY_STRING"] == "q=%20"
    assert (seen["CONTENT_TYPE"], seen["CONTENT_LENGTH"], seen["body"]) == (
        "text/plain",
        "4",
        "text",
    )
    assert (seen["REMOTE_ADDR"], seen["SERVER_PORT"]) == (HOST, str(web.port))
    assert (seen["HTTP_X_TWO"], seen["HTTP_COOKIE"], seen["wsgi.url_scheme"]) == (
        "2",
        "a=b",
        "http",
    )


def test_the_application_knows_since_when_a_request_waits(web):
    """The deadline of a caller counts from then, and no header can change it."""
    for headers in ({}, {"Tideline.Arrived": "1", "tideline-arrived": "1"}):
        assert 0 < web.ask(headers=headers)[2]["waited_s"] < SOON_S


def test_headers_of_one_name_are_joined_and_those_with_underscores_dropped(web):
    lines = "X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\nX_Forwarded_For: 3.3.3.3\r\n"
    with web.open(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lines}\r\n".encode()) as it:
        assert b'"HTTP_X_FORWARDED_FOR": "1.1.1.1,2.2.2.2"' in read_all(it)


@pytest.mark.parametrize("place", ["one header", "many headers"])
@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (65_536, 431), (70_000, 431)])
def test_a_head_has_64_kib_at_most(web, place, size, status):
    headers = f"X-Long: {'x' * size}\r\n"
    if place == "many headers":
        headers = "".join(f"X-{n}: {'x' * (size // 60)}\r\n" for n in range(60))
    head = f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n"
    with web.open(head.encode()) as it:
        assert read_all(it).startswith(b"HTTP/1.1 %d " % status)


def test_a_failing_application_answers_500_and_keeps_its_threads(web):
    for _ in range(LIMITS.threads + 1):
        assert web.ask("/raise")[0] == 500
    assert web.ask("/")[0] == 200


def test_a_body_too_large_is_refused_before_it_is_read(web):
    with web.open(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10485760\r\n\r\n") as it:
        assert_refused(it, 413)


@pytest.mark.parametrize("length", [b"", b"Content-Length: 3\r\n"])
def test_a_chunked_body_is_read_and_has_a_length(web, length):
    text = b"x" * 100_000
    with web.open(CHUNKED.replace(b"\r\n\r\n", b"\r\n%b\r\n" % length)) as it:
        for piece in (b"4;name=value\r\nsome\r\n", b"%x\r\n%b\r\n" % (len(text), text)):
            it.sendall(piece)
        it.sendall(b"0\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        first, *later = (json.loads(part) for part in BODY.findall(read_all(it)))
    assert (first["body"], first["CONTENT_LENGTH"]) == (f"some{text.decode()}", "100004")
    # With two lengths no reader knows where the next request begins.
    assert [one["PATH_INFO"] for one in later] == ([] if length else ["/next"])


def test_a_chunked_body_has_the_same_bounds(web):
    piece = b"10000\r\n%b\r\n" % (b"x" * 65_536)
    with web.open(CHUNKED + piece * 16) as large:
        with suppress(OSError):  # refused by then, and the rest is not read
            large.sendall(piece * 100)
        assert_refused(large, 413)
    with web.open(CHUNKED + b"4\r\nte") as slow, web.open(CHUNKED + b"zz\r\n") as broken:
        assert web.ask("/")[0] == 200, "others are served"
        assert_refused(broken, 400)
        assert_refused(slow, 408)
    assert web.ask("/")[0] == 200


@pytest.mark.parametrize(
    "end", [b"", b"4\r\nte", b"4\r\ntext", b"0\r\n", b"0\r\nTrailer: a\r\n\r\n"]
)
def test_a_chunked_body_without_its_end_is_never_served(web, end):
    with web.open(CHUNKED + b"4\r\nsome\r\n" + end) as opened:
        opened.shutdown(socket.SHUT_WR)
        assert not read_all(opened).startswith(b"HTTP/1.1 200")
    assert web.served("/") == 0


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/api/v2/media", "", 401),
        ("/api/v1/media", "Authorization: Basic YTpi\r\n", 401),
        ("/api/v1/accounts/update_credentials", "", 401),
        ("/api/v2/media", "Authorization: bearer abc\r\n", 413),
        ("/compose/images", "Cookie: other=tideline\r\n", 401),
        ("/compose/images", "Cookie: a=b; tideline_session=abc\r\n", 413),
    ],
)
def test_an_upload_without_a_token_is_refused_before_it_is_read(web, path, token, status):
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\n{token}Content-Length: 104857600\r\n\r\n"
    with web.open(head.encode()) as it:
        answer = read_all(it)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert (b"www-authenticate: bearer" in answer.lower()) == (status == 401)
    assert web.ask(path, "POST", "text")[0] == 200, "the application answers small ones"


@pytest.mark.parametrize("data", [SLOW_BODY, b"GET / HTTP/1.1\r\nHost: ", b""])
def test_slow_clients_keep_no_other_waiting(web, data):
    with ExitStack() as stack:
        for number in range(300):
            stack.enter_context(web.open(data, f"127.0.{number % 100}.2"))
        for _ in range(10):
            before = time.monotonic()
            assert web.ask("/", "POST", "text")[0] == 200
            assert web.ask("/")[0] == 200
            assert time.monotonic() - before < SOON_S


def test_a_body_that_takes_too_long_is_given_up_and_its_connection_closed(web):
    with web.open(SLOW_BODY) as it:
        answer = read_all(it)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert web.served("/") == 0


def test_one_address_has_a_bounded_number_of_unfinished_bodies(web):
    with ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(web.open(SLOW_BODY))
        until(lambda: web.ask("/", "POST", "text")[0] == 429, LIMITS.body_s)
        with web.open(SLOW_BODY, "127.0.0.2") as other:
            other.sendall(b"x" * 99)
            assert other.recv(100).startswith(b"HTTP/1.1 200 ")
    assert until(lambda: web.ask("/", "POST", "text")[0] == 200)  # they have gone


@contextmanager
def all_threads_hang(web):
    """They go on when the block ends."""
    name = f"hang{web.begun}"
    with ThreadPoolExecutor() as clients:
        hanging = [clients.submit(web.ask, f"/{name}") for _ in range(LIMITS.threads)]
        until(lambda: web.served(f"/{name}") == LIMITS.threads)
        try:
            yield
        finally:
            web.log.with_suffix(f".{name}").touch()
        assert [hung.result()[0] for hung in hanging] == [200] * LIMITS.threads


def test_a_request_that_waits_too_long_is_refused_and_not_served(web):
    with all_threads_hang(web):
        status, headers, body = web.ask("/late")
        assert (status, headers["Retry-After"], list(body)) == (503, "1", ["error"])
    assert web.ask("/")[0] == 200
    assert web.served("/late") == 0


def test_a_full_queue_refuses_at_once(web):
    with all_threads_hang(web), ExitStack() as stack:
        request = b"GET /late HTTP/1.1\r\nHost: a\r\n\r\n"
        waiting = [stack.enter_context(web.open(request)) for _ in range(600)]
        assert {it.recv(12) for it in waiting} == {b"HTTP/1.1 503"}
    assert web.ask("/")[0] == 200
    assert web.served("/late") == 0


def test_a_flood_is_refused_and_leaves_nothing_to_do(web):
    request = b"GET /work HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    seen = flood(web.port, request, connections=600, seconds=2, give_up_s=1)
    assert seen["200"] and seen["503"]
    # The clients have their answers or have gone. What they left would be served first.
    before = time.monotonic()
    assert until(lambda: web.ask("/work")[0] == 200, within_s=SOON_S)
    assert time.monotonic() - before < AFTER_FLOOD_S
    assert web.served("/work") <= seen["200"] + seen[LOST] + 1


def test_probes_are_answered_while_all_threads_hang(web):
    with all_threads_hang(web):
        for path in ("/health/live", "/health/ready", "/metrics"):
            assert web.ask(path)[0] == 200, path


def test_a_client_that_reads_nothing_holds_no_thread(web):
    request = b"GET /large?5000000 HTTP/1.1\r\nHost: a\r\n\r\n"
    with ExitStack() as stack:

        def has_served_many():
            stack.enter_context(web.open(request))
            return web.served("/large") > LIMITS.threads * 4

        until(has_served_many)
        # The last ones may still be in the queue.
        assert until(lambda: web.ask("/")[0] == 200, within_s=SOON_S)


def test_a_stream_arrives_whole(web):
    connection = http.client.HTTPConnection(HOST, web.port, timeout=30)
    connection.request("POST", "/settings/export", b"x")
    answer = connection.getresponse()
    assert answer.getheader("Content-Length") is None
    first = answer.read(len(PIECE))
    assert first + answer.read() == PIECE * PIECES
    connection.close()


def test_one_stream_is_made_at_a_time_and_none_for_a_client_that_is_gone(web):
    """The threads of all other requests are free."""
    asked = b"POST /settings/export HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
    count = LIMITS.threads + 1
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(web.open(asked))
        until(lambda: web.served("piece"))
        assert web.ask()[0] == 200
        assert web.served("/settings/export") == 1
    until(lambda: web.served("end of pieces") == count)
    assert web.served("piece") < PIECES


def test_workers_end_with_a_killed_main_process_and_leave_the_port(start_web):
    port = free_port()
    killed = start_web(port, workers=2)
    workers = process_tree(killed.process.pid)[1:]
    assert len(workers) == 2
    send(killed.process.pid, SIGKILL)
    killed.process.wait()
    until(lambda: are_gone(workers), within_s=ORPHANS_S)
    successor = start_web(port)
    own = set(process_tree(successor.process.pid))
    assert {successor.ask("/")[2]["pid"] for _ in range(20)} <= own


def assert_refused(opened, status):
    answer = read_all(opened)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def read_all(opened):
    found = b""
    while data := opened.recv(1 << 16):
        found += data
    return found
