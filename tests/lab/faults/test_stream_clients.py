"""Clients of streams: what they take from the bytes, and what came twice without a reason."""

import http.server
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from lab.faults.experiments.listeners import MENTION, UPDATE, wrong_repeats
from lab.faults.load.stream import HeardEvent, StreamClient, listening
from lab.runner.redis_cluster import wait_until


def event(position: str, entity: str) -> bytes:
    return f'event: update\ndata: {{"id":"{entity}"}}\nid: {position}\n\n'.encode()


@contextmanager
def serving(bodies: Sequence[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Each connection gets the next body and ends. The port, and the positions that came."""
    came: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.headers.get("Last-Event-ID", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(bodies[min(len(came), len(bodies)) - 1])

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port, came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_event_that_is_not_whole_is_forgotten_and_asked_for_again() -> None:
    begin = b"retry: 1000\nid: p0\n\n" + event("p1", "7")
    resumed = b'event: resume\ndata: {"outcome":"replayed"}\nid: p1\n\n' + event("p2", "8")
    with serving([begin + event("p2", "8")[:-5], resumed]) as (port, came):
        client = StreamClient(port, "token", random.Random(1))
        with listening([client]):
            wait_until(lambda: len(came) > 2)
    assert came[:2] == ["", "p1"]
    assert client.entities(UPDATE)[:2] == ["7", "8"]
    assert client.resumed[0] == "replayed"


def test_a_client_can_break_its_connection_in_the_middle_of_an_event() -> None:
    long = event("p1", "7" * 2_000)
    with serving([b"id: p0\n\n" + long]) as (port, came):
        client = StreamClient(port, "token", random.Random(1), cuts=1.0)
        with listening([client]):
            wait_until(lambda: client.cut > 2)
    assert client.entities(UPDATE) == [] and {*came[1:]} == {"p0"}


@pytest.mark.parametrize(("asked", "wrong"), [("p1", []), ("p2", ["7"])])
def test_what_comes_twice_must_have_been_behind_the_position(asked: str, wrong: list[str]) -> None:
    client = StreamClient(1, "token", random.Random(1))
    client.asked = ["", asked]
    data = '{"id":"7"}'
    client.heard = [HeardEvent(0, UPDATE, data, "p1", 1), HeardEvent(1, UPDATE, data, "p3", 2)]
    assert wrong_repeats(client) == wrong


def test_notifications_are_told_apart_by_their_type() -> None:
    told = (
        b"event: notification\ndata: " + b'{"id":"%d","type":"%s"}\n\n' % (number, kind)
        for number, kind in enumerate((b"follow", b"mention", b"favourite"))
    )
    with serving([b"id: p0\n\n" + b"".join(told)]) as (port, _):
        client = StreamClient(port, "token", random.Random(1), is_quiet=True)
        with listening([client]):
            wait_until(lambda: client.ended_s > 0)
    assert client.entities(MENTION) == ["1"]
    assert client.entities(UPDATE) == []
