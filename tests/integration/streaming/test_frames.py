"""What a client sends has bounds at the protocol: nothing that is too long is held."""

import asyncio
import os
import socket
import struct
from base64 import b64encode
from contextlib import closing, suppress
from threading import Thread

import pytest

from lab.faults.resources import resident_mb
from lab.runner.port import HOST, is_answering
from lab.services.process_tree import process_tree
from tests.callers import token_of
from tests.integration.streaming.serving import HEALTH, running_streams
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts
from web.streaming.serving import connection, worker
from web.streaming.serving.socket_exchange import MOST_MESSAGE_BYTES

TEXT, CONTINUED, PING, FIN, MASKED = 0x1, 0x0, 0x9, 0x80, 0x80
MOST = 3
TOO_BIG, INVALID, PROTOCOL_ERROR = 1009, 1007, 1002
# The server as it is, but it is sooner at the end of its patience.
HASTY = """
from web.streaming.serving import connection, worker
connection.HEAD_S = connection.LEAVE_S = 0.5
from web.streaming.__main__ import main
main()
"""


async def echo(scope, receive, send):
    """Says how long each message is; over HTTP, 200."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": str(len(event["text"]))})


@pytest.fixture
def port(monkeypatch):
    """Of a server in this process."""
    monkeypatch.setattr(connection, "HEAD_S", 0.3)
    monkeypatch.setattr(worker, "StreamingConnection", Counted)
    listening = socket.create_server((HOST, 0))
    with closing(asyncio.new_event_loop()) as loop, listening:
        accepting = loop.create_task(worker.accept(echo, listening, MOST))
        thread = Thread(target=loop.run_forever)
        thread.start()
        yield listening.getsockname()[1]
        until(lambda: not Counted.still_open)
        loop.call_soon_threadsafe(accepting.cancel)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


class Counted(connection.StreamingConnection):
    still_open = set()

    def connection_made(self, transport):
        self.still_open.add(self)
        super().connection_made(transport)

    def connection_lost(self, error):
        super().connection_lost(error)
        self._loop.call_soon(self._loop.call_soon, self.still_open.discard, self)


def frame(first, length):
    """Its header, with a mask that changes nothing."""
    long = struct.pack("!BQ", MASKED | 127, length)
    return bytes([first]) + (long if length else bytes([MASKED])) + bytes(4)


class Peer:
    """A WebSocket of single bytes."""

    def __init__(self, port, token=""):
        self.socket = socket.create_connection((HOST, port), timeout=PATIENCE_S)
        key = b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /api/v1/streaming?access_token={token} HTTP/1.1\r\nHost: {HOST}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        self.file = self.socket.makefile("rb")
        assert b" 101 " in self.file.readline()
        while self.file.readline() != b"\r\n":
            pass

    def send(self, first, length, payload=b""):
        self.socket.sendall(frame(first, length) + payload)

    def read_frame(self):
        first, size = self.file.read(2)
        size = struct.unpack("!H", self.file.read(2))[0] if size == 126 else size
        return first & 0x0F, self.file.read(size)

    def close_code(self):
        opcode, payload = self.read_frame()
        assert opcode == 0x8
        assert self.file.read() == b""
        self.close()
        return struct.unpack("!H", payload[:2])[0]

    def close(self):
        self.file.close()
        self.socket.close()


@pytest.fixture
def peer(port):
    peer = Peer(port)
    yield peer
    peer.close()


@pytest.mark.parametrize("length", [MOST_MESSAGE_BYTES + 1, 14 << 20, (1 << 63) - 1])
def test_a_frame_that_is_too_long_is_refused_by_its_header(peer, length):
    peer.send(TEXT | FIN, length)
    assert peer.close_code() == TOO_BIG


def test_the_parts_of_a_message_have_one_bound(peer):
    half = MOST_MESSAGE_BYTES // 2
    peer.send(TEXT, half, b"x" * half)
    for _ in range(3):
        peer.send(CONTINUED, 0)
    peer.send(CONTINUED, half, b"x" * half)
    peer.send(CONTINUED | FIN, 1)
    assert peer.close_code() == TOO_BIG


def test_the_longest_message_gets_an_answer(peer):
    peer.send(TEXT | FIN, MOST_MESSAGE_BYTES, b"x" * MOST_MESSAGE_BYTES)
    assert peer.read_frame() == (TEXT, str(MOST_MESSAGE_BYTES).encode())
    peer.send(TEXT | FIN, 2, b"\xff\xff")
    assert peer.close_code() == INVALID


@pytest.mark.parametrize("first", [0xF1, CONTINUED | FIN, 0x3 | FIN])
def test_what_is_no_frame_ends_the_connection(peer, first):
    peer.send(first, 200, b"x" * 200)
    assert peer.close_code() == PROTOCOL_ERROR


def test_floods_take_no_memory(world, tmp_path):
    """Of large frames; of parts without end; of pings whose answers are not read; of a body."""
    token = token_of(make_accounts(1)[0])
    large = frame(TEXT | FIN, 14 << 20) + b"x" * (14 << 20)
    parts = frame(TEXT, 0) + frame(CONTINUED, 0) * 2_000_000
    pings = frame(PING | FIN, 0) * 2_000_000
    body = f"POST {HEALTH} HTTP/1.1\r\nContent-Length: 0\r\n\r\n".encode() + b"x" * (14 << 20)
    with running_streams(tmp_path / "streaming.log", ("-c", HASTY)) as (child, port):
        Peer(port, token).close()
        before_mb, peers = memory_mb(child), [Peer(port, token) for _ in range(23)]
        peers.append(socket.create_connection((HOST, port)))
        said = [*[large] * 20, parts, pings, pings, body]
        senders = [Thread(target=say, args=pair) for pair in zip(peers, said, strict=True)]
        for sender in senders:
            sender.start()
        until(lambda: not any(sender.is_alive() for sender in senders[:20]))
        assert memory_mb(child) - before_mb < 10
        for peer in peers:
            peer.close()
        assert is_answering(port, HEALTH)


@pytest.mark.parametrize("said", ["", "GET / HTTP/1.1\r\nX: y"])
def test_a_head_has_a_deadline(port, said):
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as peer:
        peer.sendall(said.encode())
        with suppress(ConnectionResetError):
            assert peer.recv(1) == b""


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET / HTTP/1.1\r\nX: " + "y" * 9_000, 431),
        ("GET / HTTP/1.1" + "\r\nX: y" * 200, 431),
        ("GET /" + "y" * 70_000 + " HTTP/1.1", 431),
        ("nonsense", 400),
        ("GET /\xe9 HTTP/1.1", 400),
        ("GET / HTTP/1.1\r\nno header", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked", 400),
        ("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade", 400),
        ("GET / HTTP/1.0", 200),
        ("HEAD / HTTP/1.1", 200),
    ],
)
def test_any_head_gets_an_answer_and_an_end(port, head, status):
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as peer:
        peer.sendall(head.encode("latin-1") + b"\r\n\r\n")
        answer = peer.makefile("rb").read()
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"connection: close\r\n" in answer
    assert answer.endswith(b"all") == (head == "GET / HTTP/1.0")


def test_more_connections_than_places_wait(port):
    first = [Peer(port) for _ in range(MOST)]
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as late:
        late.sendall(b"GET / HTTP/1.1\r\n\r\n")
        late.settimeout(0.3)
        with pytest.raises(TimeoutError):
            late.recv(1)
        first[0].close()
        late.settimeout(PATIENCE_S)
        assert late.recv(8) == b"HTTP/1.1"
    for peer in first[1:]:
        peer.close()


def say(peer, said):
    with suppress(OSError):
        (peer.socket if isinstance(peer, Peer) else peer).sendall(said)


def memory_mb(child):
    """Of the worker; the other process only starts it."""
    return max(map(resident_mb, process_tree(child.pid)))
