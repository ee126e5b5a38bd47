"""A peer that has gone without a word keeps its place only until the kernel has asked for it."""

import os
import socket
import sys
import time
from base64 import b64encode
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from lab.runner.port import HOST
from relations.actions.follow import follow
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.integration.streaming.serving import running_streams
from tests.waiting import until
from tests.world import make_accounts, publish
from web.streaming.serving import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the options are those of Linux")
# The server as it is, but it is sooner at the end of its patience.
PROGRAM = """
from web.streaming.serving import server
server.SILENT_S, server.ASK_EVERY_S, server.DEAD_AFTER_S = 1, 1, 2
from web.streaming.__main__ import main
main()
"""
ESTABLISHED, KEEPALIVE = "01", "02"


@pytest.fixture
def people(world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    return me, author


def open_and_never_read(port, token):
    """A WebSocket whose peer takes a few kilobytes and then no more."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    peer.connect((HOST, port))
    key = b64encode(os.urandom(16)).decode()
    head = (
        f"GET /api/v1/streaming?stream=user&access_token={token} HTTP/1.1\r\nHost: {HOST}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {key}\r\n\r\n"
    )
    peer.sendall(head.encode())
    assert b" 101 " in peer.recv(64)
    return peer


def has_room(port, token):
    try:
        with connect(f"ws://{HOST}:{port}/api/v1/streaming?stream=user&access_token={token}"):
            return True
    except InvalidStatus as refused:
        assert refused.response.status_code == 503
        return False


def timers(port):
    """Of the server's ends of connections."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = [line for line in lines if line[1].endswith(f":{port:04X}") and line[3] == ESTABLISHED]
    return [line[5].partition(":")[0] for line in ends]


def test_a_peer_that_stops_reading_loses_its_place(people, tmp_path):
    me, author = people
    log = tmp_path / "streaming.log"
    with running_streams(log, ("-c", PROGRAM), STREAMING_CONNECTIONS="1") as (_, port):
        peer = open_and_never_read(port, token_of(me))
        token = token_of(author)
        assert not has_room(port, token)
        for _ in range(12):
            publish(author, "x" * 400)
        deliver_all()
        begin = time.monotonic()
        until(lambda: has_room(port, token))
        assert 1 < time.monotonic() - begin < 20
        peer.close()


def test_the_kernel_asks_silent_peers_whether_they_are_there(people, tmp_path):
    with running_streams(tmp_path / "streaming.log") as (_, port):
        peer = open_and_never_read(port, token_of(people[0]))
        until(lambda: timers(port))
        assert timers(port) == [KEEPALIVE]
        peer.close()


def test_accepted_connections_have_the_options(world):
    with socket.create_server((HOST, 0)) as listening:
        server.find_dead_peers(listening)
        peer = socket.create_connection(listening.getsockname())
        accepted, _ = listening.accept()
        patience_ms = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert patience_ms == server.DEAD_AFTER_S * 1000
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        for one in (accepted, peer):
            one.close()
