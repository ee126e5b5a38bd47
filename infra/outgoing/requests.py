"""Sends a request to a server of others, and reads its answer.

A connection to a server of others, with a deadline for all that is done with it.
"""

import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlencode

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


class DocumentUnreadable(OSError):
    """The server has another answer than 200, or the document is too long."""


def get(url: str, seconds: float, most_bytes: int, is_own: bool = False) -> bytes:
    """The document at this address. Raises: DocumentUnreadable; raises and lasts as `connected`."""
    with connected(url, seconds, is_own) as (connection, path):
        connection.request("GET", path, headers={"Accept": "application/json"})
        return read_document(connection.getresponse(), most_bytes)


def read_document(answer: HTTPResponse, most_bytes: int) -> bytes:
    """The body of an answer. Raises: DocumentUnreadable, OSError, HTTPException."""
    body = answer.read(most_bytes + 1)
    if answer.status != 200 or len(body) > most_bytes:
        raise DocumentUnreadable(f"{answer.status}, {len(body)} bytes")
    return body


def post(url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
    """The status of the answer, whose body is not read. Raises and lasts as `connected`."""
    with connected(url, seconds) as (connection, path):
        connection.request("POST", path, body, dict(headers))
        return connection.getresponse().status


def post_form(
    url: str, form: Mapping[str, str], basic: tuple[str, str], seconds: float, most_bytes: int
) -> bytes:
    """The answer, which must be 200. `basic`: user and password (RFC 7617).

    Raises: DocumentUnreadable; raises and lasts as `connected`.
    """
    proof = b64encode(":".join(basic).encode()).decode()
    headers = {
        "Accept": "application/json",
        "Authorization": f"Basic {proof}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    with connected(url, seconds) as (connection, path):
        connection.request("POST", path, urlencode(form).encode(), headers)
        return read_document(connection.getresponse(), most_bytes)


_HEADERS = {"Accept": "application/json", "Content-Type": "application/json"}


def post_json(url: str, body: bytes, seconds: float, most_bytes: int) -> bytes:
    """The answer, which must be 200. The address may be private: it is one of the settings.

    Raises: DocumentUnreadable; raises and lasts as `connected`.
    """
    with connected(url, seconds, is_own=True) as (connection, path):
        connection.request("POST", path, body, _HEADERS)
        return read_document(connection.getresponse(), most_bytes)
