"""One thread's connection to one Redis server: commands out, replies in, over a socket of our own.

hiredis packs the commands and parses the replies; redis-py's own path costs more per reply than the
rest of a round trip. The kernel enforces the timeouts: timeouts of Python add a poll(), and a
release of the interpreter lock, to each call. The windowed pipeline keeps few commands in flight.
"""

import select
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

from hiredis import Reader, pack_command
from redis.connection import ConnectionPool, SSLConnection
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    InvalidResponse,
    MasterDownError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.errors import RedisRefuses
from infra.evidence import Command as Command

# The first exchange on each socket. Raises if the server must not be used.
Greeting = Callable[[Callable[[Sequence[Command]], list[Any]]], None]
_INCOMPLETE = object()
_CHUNK_BYTES = 1 << 16
# A connection that was used a moment ago is trusted. The server may have closed an older one.
TRUSTED_S = 0.05
# The error replies that callers tell apart, by the first word of the reply.
_ERRORS: Mapping[str, Callable[[str], RedisError]] = {
    "ERR": ResponseError,
    "NOSCRIPT": NoScriptError,
    "MOVED": MovedError,
    "ASK": AskError,
    "LOADING": BusyLoadingError,
    "OOM": OutOfMemoryError,
    "READONLY": ReadOnlyError,
    "CLUSTERDOWN": ClusterDownError,
    "MASTERDOWN": MasterDownError,
    "NOREPLICAS": RedisRefuses,
    "MISCONF": RedisRefuses,
    "BUSY": RedisRefuses,
}


class PipelinedConnection:
    """Not for several threads. After any failure the next exchange opens a new socket."""

    _reader: Reader
    _poll: Callable[[float], Sequence[Any]]

    def __init__(self, open_socket: Callable[[], socket.socket], greet: Greeting) -> None:
        self._open_socket, self._greet = open_socket, greet
        self._sock: Any = None
        self._used_at = 0.0

    def exchange(self, commands: Iterable[Command], window: int | None = None) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when the server is away.

        `window`: how many commands may wait for their reply; the next one is taken from `commands`
        while the server works. None: all commands go out in one write.
        """
        try:
            sock = self._ready_socket()
            if window is not None:
                return self._exchange_windowed(sock, commands, window)
            return self._read(sock, self._send(sock, commands))
        except BaseException as error:
            self._fail(error)

    def send(self, commands: Iterable[Command]) -> int:
        """The first half of an exchange: how many replies are to be received. Raises as `exchange`.

        `receive` must follow before anything else, or `close`.
        """
        try:
            return self._send(self._ready_socket(), commands)
        except BaseException as error:
            self._fail(error)

    def receive(self, count: int, until_s: float | None) -> list[Any]:
        """The second half. Raises as `exchange`.

        `until_s`: when the wait ends, by the monotonic clock. None: after the socket's time-out.
        """
        try:
            return self._read(self._sock, count, until_s)
        except BaseException as error:
            self._fail(error)

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def __del__(self) -> None:
        """Closes the socket when its thread has ended. In a fork the parent's socket stays open."""
        self.close()

    def _fail(self, error: BaseException) -> NoReturn:
        """Unread replies may be left: a later call must never take them for its own."""
        self.close()
        if isinstance(error, TimeoutError | BlockingIOError):
            raise RedisTimeoutError("Redis did not answer in time") from error
        if isinstance(error, OSError):
            raise RedisConnectionError(str(error)) from error
        raise error

    def _send(self, sock: Any, commands: Iterable[Command]) -> int:
        packed = [
            command if isinstance(command, bytes) else pack_command(command) for command in commands
        ]
        sock.sendall(b"".join(packed))
        return len(packed)

    def _exchange_windowed(self, sock: Any, commands: Iterable[Command], window: int) -> list[Any]:
        sent, replies = 0, list[Any]()
        for command in commands:
            if sent - len(replies) == window:
                replies += self._read(sock, 1)
            sent += self._send(sock, [command])
        return replies + self._read(sock, sent - len(replies))

    def _ready_socket(self) -> Any:
        now = time.monotonic()
        is_idle = now - self._used_at > TRUSTED_S
        self._used_at = now
        # Data, or an end, before we sent anything: the socket is closed or out of step.
        if self._sock is None or (is_idle and self._poll(0)):
            self.close()
            self._connect()
        return self._sock

    def _connect(self) -> None:
        self._sock = sock = self._open_socket()
        if type(sock) is socket.socket:  # TLS needs the timeouts of Python
            _leave_timeouts_to_kernel(sock)
        self._reader = Reader(
            protocolError=InvalidResponse, replyError=_reply_error, notEnoughData=_INCOMPLETE
        )
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        self._poll = poller.poll
        self._greet(lambda commands: self._read(sock, self._send(sock, commands)))

    def _read(self, sock: Any, count: int, until_s: float | None = None) -> list[Any]:
        arrived = iter(self._reader.gets, _INCOMPLETE)
        replies = list(islice(arrived, count))
        while len(replies) < count:
            if until_s is not None and not self._poll(_ms_until(until_s)):
                raise TimeoutError
            self._receive(sock)
            replies += islice(iter(self._reader.gets, _INCOMPLETE), count - len(replies))
        return replies

    def _receive(self, sock: Any) -> None:
        data = sock.recv(_CHUNK_BYTES)
        if not data:
            raise RedisConnectionError("Redis closed the connection")
        self._reader.feed(data)


def _ms_until(until_s: float) -> float:
    """Never below 0, which would wait for ever."""
    return max(0.0, (until_s - time.monotonic()) * 1_000)


def connection_options(pool: ConnectionPool) -> dict[str, Any]:
    """What `open_socket` needs of the settings that redis-py read from a URL."""
    is_tls = issubclass(pool.connection_class, SSLConnection)
    return {**pool.connection_kwargs, "ssl": is_tls}


def open_socket(options: Mapping[str, Any]) -> socket.socket:
    """A socket on which the server is ready for commands.

    `options`: see `connection_options`. Raises: OSError, RedisConnectionError.
    """
    sock = _connect_socket(options)
    sock.settimeout(options.get("socket_timeout"))
    return _prepare(sock, lambda: _greet(sock, options))


def _connect_socket(options: Mapping[str, Any]) -> socket.socket:
    timeout_s = options.get("socket_connect_timeout")
    if "path" in options:
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(timeout_s)
        return _prepare(sock, lambda: sock.connect(options["path"]))
    host, port = options.get("host", "localhost"), int(options.get("port", 6379))
    sock = socket.create_connection((host, port), timeout_s)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if options["ssl"]:
        return _prepare(sock, lambda: _tls_context(options).wrap_socket(sock, server_hostname=host))
    return sock


def _prepare(sock: socket.socket, step: Callable[[], socket.socket | None]) -> socket.socket:
    """The socket after the step. Closes it if the step fails."""
    try:
        return step() or sock
    except BaseException:
        sock.close()
        raise


def _tls_context(options: Mapping[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=options.get("ssl_ca_certs"))
    if options.get("ssl_cert_reqs") == "none":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if options.get("ssl_certfile"):
        context.load_cert_chain(options["ssl_certfile"], options.get("ssl_keyfile"))
    return context


def _greet(sock: socket.socket, options: Mapping[str, Any]) -> None:
    """Signs in and selects the database. Raises RedisConnectionError when the server refuses."""
    commands: list[tuple[Any, ...]] = []
    if options.get("password"):
        user = [options["username"]] if options.get("username") else []
        commands.append(("AUTH", *user, options["password"]))
    if options.get("db"):
        commands.append(("SELECT", options["db"]))
    reader = Reader(protocolError=InvalidResponse, replyError=_reply_error)
    for command in commands:
        sock.sendall(pack_command(command))
        while (reply := reader.gets()) is False:
            data = sock.recv(_CHUNK_BYTES)
            if not data:
                raise RedisConnectionError("Redis closed the connection")
            reader.feed(data)
        if isinstance(reply, RedisError):
            raise RedisConnectionError(str(reply))


def _leave_timeouts_to_kernel(sock: socket.socket) -> None:
    """From now on a call that takes longer than the socket's timeout fails with EAGAIN."""
    timeout_s = sock.gettimeout()
    if timeout_s is None:
        return
    sock.settimeout(None)
    whole, part = divmod(timeout_s, 1)
    limit = struct.pack("ll", int(whole), int(part * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _reply_error(message: str) -> RedisError:
    code, _, text = message.partition(" ")
    return _ERRORS[code](text) if code in _ERRORS else ResponseError(message)
