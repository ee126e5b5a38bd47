"""The windowed pipeline: when commands are sent, and what a failure in the middle leaves."""

import pytest
from hiredis import pack_command
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connection import PipelinedConnection
from tests.unit.caching.fake_server import FakeServer

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
