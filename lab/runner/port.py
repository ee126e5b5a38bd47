"""Ports on this machine: whether one is free, or answers, and free ones for harnesses.

`make run` runs it with PORT before it installs packages: python -m lab.runner.port 8000
"""

import http.client
import socket
import sys
from contextlib import suppress

from infra.processes.free_ports import LOOPBACK, free_ports
from lab.runner.errors import PortUnusable

HOST = LOOPBACK
_HIGHEST = 65_535
_TIMEOUT_S = 1.0
_TRIED = 20


def usable_port(text: str) -> int:
    """The port as a number. Raises PortUnusable when it is not a port or not free."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _HIGHEST):
        raise PortUnusable(text, f"it is not a number between 1 and {_HIGHEST}")
    with socket.socket() as probe:
        # Servers set this option too: closing connections of the last run do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, int(text)))
        except OSError as error:
            raise PortUnusable(text, error.strerror or str(error)) from error
    return int(text)


def next_free_port(port: int) -> int:
    """The first free one above this port; any free one at the end of the numbers."""
    for number in range(port + 1, min(port + _TRIED, _HIGHEST) + 1):
        with suppress(PortUnusable):
            return usable_port(str(number))
    return free_port()


def free_port() -> int:
    """A port that no program listens on. Another program may take it before it is used."""
    return free_ports(1)[0]


def is_answering(port: int, path: str) -> bool:
    """Whether a GET of `path` returns 200."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    try:
        usable_port(sys.argv[1])
    except PortUnusable as error:
        sys.exit(str(error))
