"""One thread's connection to one Redis server: bytes out, replies in.

redis-py connects, authenticates and speaks TLS; then commands go out in one write and hiredis
reads the replies straight from the socket. redis-py's own way there costs 2 µs a reply.
"""

import socket
from collections.abc import Sequence
from typing import Any

from hiredis import Reader, pack_command
from redis._parsers.base import BaseParser
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

_INCOMPLETE = object()
_CHUNK_BYTES = 1 << 16


class Wire:
    """Not shared between threads. After any failure the next exchange starts on a new socket."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def exchange(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when the server is away."""
        try:
            sock = self._socket()
            sock.sendall(b"".join([pack_command(command) for command in commands]))
            return self._read(sock, len(commands))
        except BaseException as error:
            # Replies may be left in the pipe: a later call must never read them as its own.
            self._connection.disconnect()
            if isinstance(error, TimeoutError):
                raise RedisTimeoutError("Redis did not answer in time") from error
            if isinstance(error, OSError):
                raise RedisConnectionError(str(error)) from error
            raise

    def _socket(self) -> Any:
        sock = self._connection._sock
        if sock is None or _has_news(sock):
            self._connection.disconnect()
            self._connection.connect()
            self._reader = Reader(
                protocolError=InvalidResponse, replyError=_reply_error, notEnoughData=_INCOMPLETE
            )
            sock = self._connection._sock
        return sock

    def _read(self, sock: Any, count: int) -> list[Any]:
        reader = self._reader
        replies: list[Any] = []
        while len(replies) < count:
            reply = reader.gets()
            if reply is not _INCOMPLETE:
                replies.append(reply)
                continue
            data = sock.recv(_CHUNK_BYTES)
            if not data:
                raise RedisConnectionError("Redis closed the connection")
            reader.feed(data)
        return replies


def _has_news(sock: Any) -> bool:
    """Bytes, or an end, waiting before we asked anything: the socket is closed or out of step."""
    timeout = sock.gettimeout()
    sock.settimeout(0)
    try:
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        sock.settimeout(timeout)
    return True


def _reply_error(message: str) -> RedisError:
    error: RedisError = BaseParser.parse_error(message)  # type: ignore[no-untyped-call]
    return error
