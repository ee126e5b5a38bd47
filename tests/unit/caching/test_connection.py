"""A few commands under way at a time: what is sent when, what a failure in the middle leaves."""

import socket

import pytest
from hiredis import pack_command
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connection import PipelinedConnection

COMMANDS = [("ECHO", str(n)) for n in range(7)]
REPLIES = [b"+%d\r\n" % n for n in range(7)]


class Connection:
    """To a server that has said all it is going to say before it is asked."""

    def __init__(self, *says, hangs_up=False):
        self._sock, self._says, self._hangs_up = None, list(says), hangs_up

    def connect(self):
        self._sock, self.server = socket.socketpair()
        self._sock.settimeout(0.05)
        self.server.sendall(self._says.pop(0))
        if self._hangs_up:
            self.server.shutdown(socket.SHUT_WR)

    def disconnect(self):
        if self._sock is not None:
            self._sock.close()
            self.server.close()
        self._sock = None


@pytest.fixture
def connect():
    made = []

    def connect(*says, hangs_up=False):
        made.append(Connection(*says, hangs_up=hangs_up))
        return made[-1], PipelinedConnection(made[-1])

    yield connect
    for one in made:
        one.disconnect()


@pytest.mark.parametrize("window", [1, 2, 3, 7, 50, None])
def test_commands_and_replies_are_in_order(connect, window):
    connection, wire = connect(b"".join(REPLIES))
    assert wire.exchange(iter(COMMANDS), window) == [b"%d" % n for n in range(7)]
    assert connection.server.recv(10_000) == b"".join(map(pack_command, COMMANDS))


def test_error_reply_stands_in_its_place_and_stops_nothing(connect):
    _, wire = connect(b"+0\r\n-ERR no\r\n+2\r\n+3\r\n")
    replies = wire.exchange(COMMANDS[:4], 2)
    assert isinstance(replies[1], ResponseError)
    assert replies[:1] + replies[2:] == [b"0", b"2", b"3"]


def test_each_command_is_taken_when_at_most_two_are_unanswered(connect, monkeypatch):
    _, wire = connect(b"".join(REPLIES))
    read, answered, unanswered = wire._read, [], []

    def counted(sock, count):
        replies = read(sock, count)
        answered.extend(replies)
        return replies

    def commands():
        for n, command in enumerate(COMMANDS):
            unanswered.append(n - len(answered))
            yield command

    monkeypatch.setattr(wire, "_read", counted)
    wire.exchange(commands(), 2)
    assert unanswered == [0, 1, 2, 2, 2, 2, 2], "the next is made while two are under way"


@pytest.mark.parametrize(
    ("hangs_up", "error"), [(True, RedisConnectionError), (False, RedisTimeoutError)]
)
def test_server_that_goes_silent_in_the_middle(connect, hangs_up, error):
    """Whoever asks next is on a new connection: the rest of the old replies is not theirs."""
    connection, wire = connect(REPLIES[0] + REPLIES[1], b"+next\r\n", hangs_up=hangs_up)
    with pytest.raises(error):
        wire.exchange(COMMANDS, 2)
    assert wire.exchange([("PING",)]) == [b"next"]
    assert connection.server.recv(10_000) == pack_command(("PING",))


def test_command_that_cannot_be_made_leaves_no_reply_behind(connect):
    _, wire = connect(b"".join(REPLIES), b"+next\r\n")

    def commands():
        yield from COMMANDS[:3]
        raise LookupError

    with pytest.raises(LookupError):
        wire.exchange(commands(), 2)
    assert wire.exchange([("PING",)]) == [b"next"]
