"""The windowed pipeline: when commands are sent, and what a failure in the middle leaves.

MGETs that follow each other are one command, and each gets its own values.

A round trip with several servers: all are asked before any is waited for, and none twice.

A server under a connection: it has sent all its replies before it gets a command.
"""

import socket
import threading
import time

import pytest
from hiredis import pack_command
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connected_server import TripPart
from infra.caching.connection import PipelinedConnection
from infra.caching.joint_trips import exchange_jointly


class FakeServer:
    """To a server that has sent all its replies before it gets a command."""

    def __init__(self, *replies, hangs_up=False):
        self.server, self._replies, self._hangs_up = None, list(replies), hangs_up

    def open(self):
        self.close()
        sock, self.server = socket.socketpair()
        sock.settimeout(0.05)
        self.server.sendall(self._replies.pop(0))
        if self._hangs_up:
            self.server.shutdown(socket.SHUT_WR)
        return sock

    def close(self):
        if self.server is not None:
            self.server.close()


COMMANDS = [("ECHO", str(n)) for n in range(7)]
REPLIES = [b"+%d\r\n" % n for n in range(7)]


@pytest.fixture
def connect():
    made = []

    def connect(*says, hangs_up=False):
        server = FakeServer(*says, hangs_up=hangs_up)
        connection = PipelinedConnection(server.open, lambda _: None)
        made.extend((server, connection))
        return server, connection

    yield connect
    for one in made:
        one.close()


@pytest.mark.parametrize("window", [1, 2, 3, 7, 50, None])
def test_commands_and_replies_are_in_order(connect, window):
    server, connection = connect(b"".join(REPLIES))
    assert connection.exchange(iter(COMMANDS), window) == [b"%d" % n for n in range(7)]
    assert server.server.recv(10_000) == b"".join(map(pack_command, COMMANDS))


def test_error_reply_stands_in_its_place_and_stops_nothing(connect):
    _, connection = connect(b"+0\r\n-ERR no\r\n+2\r\n+3\r\n")
    replies = connection.exchange(COMMANDS[:4], 2)
    assert isinstance(replies[1], ResponseError)
    assert replies[:1] + replies[2:] == [b"0", b"2", b"3"]


def test_each_command_is_taken_when_at_most_two_are_unanswered(connect, monkeypatch):
    _, connection = connect(b"".join(REPLIES))
    read, answered, unanswered = connection._read, [], []

    def counted(sock, count):
        replies = read(sock, count)
        answered.extend(replies)
        return replies

    def commands():
        for n, command in enumerate(COMMANDS):
            unanswered.append(n - len(answered))
            yield command

    monkeypatch.setattr(connection, "_read", counted)
    connection.exchange(commands(), 2)
    assert unanswered == [0, 1, 2, 2, 2, 2, 2], "the next is made while two are under way"


@pytest.mark.parametrize(
    ("hangs_up", "error"), [(True, RedisConnectionError), (False, RedisTimeoutError)]
)
def test_server_that_goes_silent_in_the_middle(connect, hangs_up, error):
    """Whoever asks next is on a new connection: the rest of the old replies is not theirs."""
    server, connection = connect(REPLIES[0] + REPLIES[1], b"+next\r\n", hangs_up=hangs_up)
    with pytest.raises(error):
        connection.exchange(COMMANDS, 2)
    assert connection.exchange([("PING",)]) == [b"next"]
    assert server.server.recv(10_000) == pack_command(("PING",))


def test_command_that_cannot_be_made_leaves_no_reply_behind(connect):
    _, connection = connect(b"".join(REPLIES), b"+next\r\n")

    def commands():
        yield from COMMANDS[:3]
        raise LookupError

    with pytest.raises(LookupError):
        connection.exchange(commands(), 2)
    assert connection.exchange([("PING",)]) == [b"next"]


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
