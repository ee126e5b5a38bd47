"""A round trip with several servers: all are asked before any is waited for, and none twice."""

import threading
import time

import pytest
from hiredis import pack_command
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connected_server import TripPart
from infra.caching.connection import PipelinedConnection
from infra.caching.joint_trips import exchange_jointly
from tests.unit.caching.fake_server import FakeServer

PING, TIMEOUT_S = ("PING",), 0.4


class Node:
    """As ConnectedServer, to a server of the test. `timeout_s`: of each read."""

    timeout_s = TIMEOUT_S

    def __init__(self, *says, accept=None, hangs_up=False):
        self.fake = FakeServer(*says, hangs_up=hangs_up)
        self.connection = PipelinedConnection(self._open, lambda _: None)
        self._accept = accept

    def _open(self):
        sock = self.fake.open()
        sock.settimeout(TIMEOUT_S)
        return sock

    def avoid(self):
        self.rests = True

    def part(self, commands):
        return TripPart(self.connection, commands, self._accept)

    def say_later(self, text, after_s):
        threading.Timer(after_s, lambda: self.fake.server.sendall(text)).start()


@pytest.fixture
def node():
    made = []

    def node(*says, **options):
        made.append(Node(*says, **options))
        return made[-1]

    yield node
    for one in made:
        one.fake.close()
        one.connection.close()


def test_replies_are_those_of_each_server_in_order(node):
    one, other = node(b"+1\r\n+2\r\n"), node(b"+3\r\n")
    assert exchange_jointly({one: [PING, PING], other: [PING]}) == [[b"1", b"2"], [b"3"]]


def test_all_are_asked_before_any_is_waited_for(node):
    hung, other = node(b""), node(b"+1\r\n")
    with pytest.raises(RedisTimeoutError):
        exchange_jointly({hung: [PING], other: [PING]})
    assert other.fake.server.recv(100) == pack_command(PING)


@pytest.mark.parametrize("hangs_up", [True, False])
def test_replies_of_others_are_read_also_when_one_fails(node, hangs_up):
    """So they have run their commands, and a later call does not take the replies for its own."""
    before, after = node(b"+old\r\n+new\r\n"), node(b"+old\r\n+new\r\n")
    failed = node(b"", b"+new\r\n", hangs_up=hangs_up)
    with pytest.raises((RedisTimeoutError, RedisConnectionError)):
        exchange_jointly({before: [PING], failed: [PING], after: [PING]})
    assert failed.rests
    failed.fake._hangs_up = False
    assert exchange_jointly({before: [PING], failed: [PING], after: [PING]}) == [[b"new"]] * 3


def test_others_are_asked_also_when_one_cannot_be_reached(node):
    """What must be removed from them does not wait for it."""
    other = node(b"+1\r\n")
    away = node(b"")
    away.connection._open_socket = fail_to_open
    with pytest.raises(RedisConnectionError):
        exchange_jointly({away: [PING], other: [PING]})
    assert other.fake.server.recv(100) == pack_command(PING)
    assert away.rests


def fail_to_open():
    raise ConnectionRefusedError


def test_command_that_cannot_be_packed_leaves_no_reply_behind(node):
    one, other = node(b"+old\r\n", b"+new\r\n"), node(b"", b"+new\r\n")
    with pytest.raises(TypeError):
        exchange_jointly({one: [PING], other: [("GET", object())]})
    assert exchange_jointly({one: [PING], other: [PING]}) == [[b"new"]] * 2


def test_servers_have_one_time_out_together(node):
    """The first answers late, so the second has only what is left."""
    late, hung = node(b""), node(b"")
    for one in (late, hung):
        one.connection._ready_socket()
    late.say_later(b"+1\r\n", TIMEOUT_S * 0.7)
    began = time.monotonic()
    with pytest.raises(RedisTimeoutError):
        exchange_jointly({late: [PING], hung: [PING]})
    assert TIMEOUT_S <= time.monotonic() - began < TIMEOUT_S * 1.6


def test_proof_is_of_each_server_and_no_reply(node):
    proofs = []
    proven = node(b"+1\r\n+yes\r\n", accept=proofs.append)
    assert exchange_jointly({proven: [PING, ("WRITE",)], node(b"+2\r\n"): [PING]}) == [
        [b"1"],
        [b"2"],
    ]
    assert proofs == [b"yes"]
