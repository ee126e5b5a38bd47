"""Addresses of other servers: push services, webhooks. Others choose them, so they must not lead
into our own network.
"""

import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from infra.outgoing.networks import is_address, is_public

PORTS = {"https": 443, "http": 80}
# Below are other services of a machine: mail, shells, databases of names.
FIRST_FREE_PORT = 1024


class ForbiddenAddress(ValueError):
    """The text is no address of another server, or it is in a private network."""


class OutgoingAddress(NamedTuple):
    """Where to connect to. `ip` was checked, so the name is not looked up again."""

    scheme: str
    host: str
    ip: str
    port: int
    path: str


def is_endpoint(url: str) -> bool:
    """Whether this address may be registered. A name is not looked up."""
    try:
        host = _split(url)[1]
    except ForbiddenAddress:
        return False
    return settings.PUSH_PRIVATE_ADDRESSES or not is_address(host) or is_public(host)


def resolve(url: str, is_own: bool = False) -> OutgoingAddress:
    """The address to send to. Raises: ForbiddenAddress; OSError if the name has no address.

    Every address of the name must be public, but for development. `is_own`: the address is in the
    settings of the operator, so it may be private, and without TLS.
    """
    scheme, host, port, path = _split(url, is_own)
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ips = [str(entry[4][0]) for entry in entries]
    if not (is_own or settings.PUSH_PRIVATE_ADDRESSES or all(map(is_public, ips))):
        raise ForbiddenAddress(host)
    return OutgoingAddress(scheme, host, ips[0], port, path)


def _split(url: str, is_own: bool = False) -> tuple[str, str, int, str]:
    """Raises: ForbiddenAddress. Only https, and http where private addresses are allowed.

    The port is that of the scheme, or one that any program may use.
    """
    try:
        parts = urlsplit(url)
        own = PORTS.get(parts.scheme, 0)
        port = own if parts.port is None else parts.port
    except ValueError:
        raise ForbiddenAddress(url) from None
    allowed = ("https", "http") if is_own or settings.PUSH_PRIVATE_ADDRESSES else ("https",)
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in allowed or not parts.hostname or parts.username or not is_plain:
        raise ForbiddenAddress(url)
    if port != own and port < FIRST_FREE_PORT:
        raise ForbiddenAddress(url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return parts.scheme, parts.hostname, port, path
