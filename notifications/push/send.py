"""Sends requests to push services, with a deadline for each and one for all."""

import socket
import ssl
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from enum import Enum
from functools import cache
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

import structlog

from notifications.push.addresses import ForbiddenAddress, PushAddress, resolve
from notifications.push.message import PushRequest

# A push service that is slower loses the message. The notification itself is in the list.
REQUEST_S = 3.0
BATCH_S = 10.0
THREADS = 8
log = structlog.get_logger()


class PushOutcome(Enum):
    """What became of a message. The value is the label of the metric."""

    SENT = "sent"
    GONE = "gone"  # the subscription ended: 404 or 410
    REFUSED = "refused"  # another answer, or an address that is not allowed
    LATE = "late"  # no answer in time, or no time left


def send_all(requests: Sequence[PushRequest]) -> list[PushOutcome]:
    """The outcome of each request. It returns after BATCH_S seconds at the latest.

    A host that was late once gets no other request of this batch.
    """
    late_hosts: set[str] = set()
    futures = [_executor().submit(send, request, late_hosts) for request in requests]
    wait(futures, timeout=BATCH_S)
    return [_outcome_of(future) for future in futures]


def _outcome_of(future: Future[PushOutcome]) -> PushOutcome:
    if future.done():
        return future.result()
    future.cancel()
    return PushOutcome.LATE


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="push")


def send(request: PushRequest, late_hosts: set[str]) -> PushOutcome:
    """Sends one request. It follows no redirect, because that could lead into our own network."""
    host = urlsplit(request.url).netloc
    if host in late_hosts:
        return PushOutcome.LATE
    try:
        status = _post(resolve(request.url), request, REQUEST_S)
    except ForbiddenAddress:
        return PushOutcome.REFUSED
    except (OSError, HTTPException, ValueError) as error:
        log.info("push.failed", error=str(error))
        late_hosts.add(host)
        return PushOutcome.LATE
    if status in (404, 410):
        return PushOutcome.GONE
    return PushOutcome.SENT if 200 <= status < 300 else PushOutcome.REFUSED


def _post(address: PushAddress, request: PushRequest, request_s: float) -> int:
    """The status of the answer. Raises: OSError, HTTPException.

    A timer ends the connection: time-outs of sockets hold for each read, and a service that sends
    a byte now and then would keep the thread.
    """
    connection = HTTPConnection(address.host, address.port, timeout=request_s)
    raw = socket.create_connection((address.ip, address.port), request_s)
    connection.sock = open_socket = _wrap(raw, address) if address.scheme == "https" else raw
    timer = threading.Timer(request_s, _shut, [open_socket])
    timer.start()
    try:
        if isinstance(open_socket, ssl.SSLSocket):
            open_socket.do_handshake()
        connection.request("POST", address.path, request.body, dict(request.headers))
        return connection.getresponse().status
    finally:
        timer.cancel()
        connection.close()


def _wrap(raw: socket.socket, address: PushAddress) -> ssl.SSLSocket:
    """The handshake comes later, when the timer runs."""
    return _tls().wrap_socket(raw, server_hostname=address.host, do_handshake_on_connect=False)


def _shut(open_socket: socket.socket) -> None:
    """Ends the reads and writes of another thread. An SSLSocket's own method would not be safe."""
    with suppress(OSError):
        socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
