"""One request on its way to the application, and the WSGI environment that is built from it."""

import io
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from infra.api.addresses import choose_network
from infra.deadline import ARRIVED

Application = Callable[[dict[str, Any], Callable[..., None]], Iterable[bytes]]

_CONSTANTS: Mapping[str, Any] = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
_PROTOCOLS = {"1": "HTTP/1.0", "1.1": "HTTP/1.1"}
_BARE_NAMES = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}
# Of distinct header names that clients send.
_MOST_NAMES = 512
_LONGEST_NAME = 100
# The colon, the blank and the end of a line.
_MARKS_BYTES = 4
_MOST_ADDRESSES = 16


class PendingRequest:
    """A request without an answer. `since`: when it began to wait, of `time.monotonic`.

    `protocol` and `scope` are Granian's (RSGI). The first answer given to `protocol` is sent; it
    ignores the others. `environment`: made when it is served first. `head_bytes`: how long its head
    is, when the environment was made.
    """

    __slots__ = ("body", "environment", "has_started", "head_bytes", "protocol", "scope", "since")

    def __init__(self, protocol: Any, scope: Any) -> None:
        self.protocol = protocol
        self.scope = scope
        self.body = b""
        self.environment: dict[str, Any] | None = None
        self.has_started = False
        self.head_bytes = 0
        self.since = time.monotonic()

    @property
    def is_chunked(self) -> bool:
        """Whether the body says its length at its end. A length in the head is not valid then."""
        return "transfer-encoding" in self.scope.headers

    @property
    def peer(self) -> str:
        """The address that the connection comes from."""
        return self.scope.client.rpartition(":")[0].strip("[]")

    @property
    def address(self) -> str:
        """The IPv4 address or IPv6 network of the client, also behind our proxies."""
        forwarded = self.scope.headers.get_all("x-forwarded-for")
        return choose_network(",".join(forwarded), self.peer)


def split_address(text: str) -> tuple[str, str]:
    """Host and port of `127.0.0.1:80` or `[::1]:80`."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), port


def environment_of(request: PendingRequest) -> dict[str, Any]:
    """The WSGI environment (PEP 3333) of a request whose body is complete.

    A header with an underscore in its name is left out: `X_Forwarded_For` would be the same
    variable as the proxy's `X-Forwarded-For`.
    """
    scope = request.scope
    host, port = _split_own_address(scope.server)
    environment = {
        **_CONSTANTS,
        "PATH_INFO": _latin(scope.path),
        "QUERY_STRING": _latin(scope.query_string),
        "REMOTE_ADDR": request.peer,
        "REQUEST_METHOD": scope.method,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        ARRIVED: request.since,
        "SERVER_PROTOCOL": _PROTOCOLS.get(scope.http_version, "HTTP/1.1"),
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.url_scheme": scope.scheme,
    }
    line_bytes = len(scope.path) + len(scope.query_string)
    request.head_bytes = line_bytes + _add_headers(environment, scope.headers.items())
    if "HTTP_TRANSFER_ENCODING" in environment:
        environment["CONTENT_LENGTH"] = str(len(request.body))
    if "HTTP_HOST" not in environment:
        environment["HTTP_HOST"] = scope.authority or ""
    return environment


# A server has few addresses, and all requests arrive at them.
_split_own_address = lru_cache(_MOST_ADDRESSES)(split_address)


def _add_headers(environment: dict[str, Any], headers: Iterable[tuple[str, str]]) -> int:
    """Returns how many bytes the headers have."""
    size_bytes = 0
    for name, value in headers:
        size_bytes += len(name) + len(value) + _MARKS_BYTES
        variable = _variable(name) if len(name) <= _LONGEST_NAME else None
        if variable in environment:
            separator = "; " if variable == "HTTP_COOKIE" else ","
            environment[variable] += separator + value
        elif variable:
            environment[variable] = value
    return size_bytes


@lru_cache(_MOST_NAMES)
def _variable(name: str) -> str | None:
    """The variable of a header, None for a header that is left out."""
    if "_" in name:
        return None
    return _BARE_NAMES.get(name) or "HTTP_" + name.upper().replace("-", "_")


def _latin(text: str) -> str:
    """WSGI wants each byte as one character. Some clients send a query without encoding it."""
    return text if text.isascii() else text.encode().decode("latin-1")
