"""The balancer of the load: it asks webs whether they are ready, and avoids those that are not."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lab.faults.load.balancer import Balancer
from lab.faults.load.probe import probing
from lab.runner.port import free_port
from tests.waiting import until

ENOUGH = 3


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health/ready" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def ready_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Ready) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_probing_says_which_port_answers_until_the_block_ends(ready_port: int) -> None:
    closed, answers, enough = free_port(), dict[int, list[bool]](), threading.Event()

    def keep(port: int, is_answered: bool) -> None:
        answers.setdefault(port, []).append(is_answered)
        if all(len(answers.get(one, ())) >= ENOUGH for one in (ready_port, closed)):
            enough.set()

    with probing([ready_port, closed], "/health/ready", 0.01, keep):
        assert enough.wait(20)
    assert {port: set(some) for port, some in answers.items()} == {
        ready_port: {True},
        closed: {False},
    }
    heard = sum(map(len, answers.values()))
    time.sleep(0.05)
    assert heard == sum(map(len, answers.values())), "no thread asks after the block"


def test_clients_of_a_web_that_is_not_ready_go_to_the_other(ready_port: int) -> None:
    closed = free_port()
    balancer = Balancer({"web0": closed, "web1": ready_port})
    assert [balancer.port_for(client) for client in (0, 1)] == [closed, ready_port]
    with balancer.watching():
        until(lambda: not balancer.is_ready(closed))
    assert [balancer.port_for(client) for client in (0, 1)] == [ready_port, ready_port]
