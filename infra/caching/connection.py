"""One thread's connection to one Redis server: bytes out, replies in.

redis-py connects, authenticates and speaks TLS; then commands go out in one write and hiredis
reads the replies straight from the socket. redis-py's own way there costs 2 µs a reply. Timeouts
are the kernel's: Python's own cost a poll(), and a hand-over of the interpreter, around each call.
"""

import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from hiredis import Reader, pack_command
from redis._parsers.base import BaseParser
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

Command = tuple[Any, ...]
_INCOMPLETE = object()
_CHUNK_BYTES = 1 << 16
# A connection used a moment ago is trusted; one that rested may have been closed meanwhile.
TRUSTED_S = 0.05


class PipelinedConnection:
    """Not shared between threads. After any failure the next exchange starts on a new socket."""

    _reader: Reader
    _poll: Callable[[int], Sequence[Any]]

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._used_at = 0.0

    def exchange(self, commands: Iterable[Command], window: int | None = None) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when the server is away.

        `window`: at most so many are sent ahead of their replies, the next one is taken from
        `commands` while the server works. None: all are, in one write.
        """
        try:
            sock = self._socket()
            if window is not None:
                return self._exchange_windowed(sock, commands, window)
            packed = [pack_command(command) for command in commands]
            sock.sendall(b"".join(packed))
            return self._read(sock, len(packed))
        except BaseException as error:
            # Replies may be left in the pipe: a later call must never read them as its own.
            self._connection.disconnect()
            if isinstance(error, TimeoutError | BlockingIOError):
                raise RedisTimeoutError("Redis did not answer in time") from error
            if isinstance(error, OSError):
                raise RedisConnectionError(str(error)) from error
            raise

    def _exchange_windowed(self, sock: Any, commands: Iterable[Command], window: int) -> list[Any]:
        sent, replies = 0, list[Any]()
        for packed in map(pack_command, commands):
            if sent - len(replies) == window:
                replies += self._read(sock, 1)
            sock.sendall(packed)
            sent += 1
        return replies + self._read(sock, sent - len(replies))

    def _socket(self) -> Any:
        now = time.monotonic()
        rested = now - self._used_at > TRUSTED_S
        self._used_at = now
        sock = self._connection._sock
        # Bytes, or an end, waiting before we asked anything: it is closed or out of step.
        if sock is None or (rested and self._poll(0)):
            self._connection.disconnect()
            sock = self._connect()
        return sock

    def _connect(self) -> Any:
        self._connection.connect()
        sock = self._connection._sock
        if type(sock) is socket.socket:  # TLS needs Python's timeouts
            _leave_timeouts_to_kernel(sock)
        self._reader = Reader(
            protocolError=InvalidResponse, replyError=_reply_error, notEnoughData=_INCOMPLETE
        )
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        self._poll = poller.poll
        return sock

    def _read(self, sock: Any, count: int) -> list[Any]:
        arrived = iter(self._reader.gets, _INCOMPLETE)
        replies = list(islice(arrived, count))
        while len(replies) < count:
            self._receive(sock)
            replies += islice(iter(self._reader.gets, _INCOMPLETE), count - len(replies))
        return replies

    def _receive(self, sock: Any) -> None:
        data = sock.recv(_CHUNK_BYTES)
        if not data:
            raise RedisConnectionError("Redis closed the connection")
        self._reader.feed(data)


def _leave_timeouts_to_kernel(sock: socket.socket) -> None:
    """A call that takes longer than the socket's timeout fails with EAGAIN."""
    timeout_s = sock.gettimeout()
    if timeout_s is None:
        return
    sock.settimeout(None)
    whole, part = divmod(timeout_s, 1)
    limit = struct.pack("ll", int(whole), int(part * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _reply_error(message: str) -> RedisError:
    error: RedisError = BaseParser.parse_error(message)  # type: ignore[no-untyped-call]
    return error
