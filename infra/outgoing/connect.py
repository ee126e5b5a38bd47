"""A connection to a server of others, with a deadline for all that is done with it."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection
from typing import NamedTuple

from infra.outgoing.addresses import OutgoingAddress, resolve


class OpenConnection(NamedTuple):
    """`path`: of the URL, with its query."""

    http: HTTPConnection
    path: str


@contextmanager
def connected(url: str, seconds: float, is_own: bool = False) -> Iterator[OpenConnection]:
    """A new connection for one request. It ends with the block, and after `seconds`. `is_own`: as
    for `resolve`.

    The request must follow no redirect, because that could lead into our own network. A timer ends
    the connection: time-outs of sockets hold for each read, and a server that sends a byte now and
    then would keep the thread. Only the look-up of the name may take longer: as long as the
    machine's resolver tries. Raises: ForbiddenAddress, OSError, HTTPException, ValueError.
    """
    end = time.monotonic() + seconds
    address = resolve(url, is_own)
    connection = HTTPConnection(address.host, address.port, timeout=seconds)
    raw = socket.create_connection((address.ip, address.port), _left(end))
    connection.sock = open_socket = _wrap(raw, address) if address.scheme == "https" else raw
    timer = threading.Timer(_left(end), _shut, [open_socket])
    timer.start()
    try:
        if isinstance(open_socket, ssl.SSLSocket):
            open_socket.do_handshake()
        yield OpenConnection(connection, address.path)
    finally:
        timer.cancel()
        connection.close()


def _left(end: float) -> float:
    """Some time, so that what has begun late fails by its own time-out."""
    return max(end - time.monotonic(), 0.001)


def _wrap(raw: socket.socket, address: OutgoingAddress) -> ssl.SSLSocket:
    """The handshake comes later, when the timer runs."""
    return _tls().wrap_socket(raw, server_hostname=address.host, do_handshake_on_connect=False)


def _shut(open_socket: socket.socket) -> None:
    """Ends the reads and writes of another thread. An SSLSocket's own method would not be safe."""
    with suppress(OSError):
        socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
