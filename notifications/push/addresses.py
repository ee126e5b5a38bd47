"""Addresses of push services. Clients choose them, so they must not lead into our own network."""

import socket
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

PORTS = {"https": 443, "http": 80}


class ForbiddenAddress(ValueError):
    """The endpoint is no address of a push service, or it is in a private network."""


class PushAddress(NamedTuple):
    """Where to connect to. `ip` was checked, so the name is not looked up again."""

    scheme: str
    host: str
    ip: str
    port: int
    path: str


def is_endpoint(url: str) -> bool:
    """Whether a client may register this endpoint. The name is not looked up."""
    try:
        _split(url)
    except ForbiddenAddress:
        return False
    return True


def resolve(url: str) -> PushAddress:
    """The address to send to. Raises: ForbiddenAddress; OSError if the name has no address.

    Every address of the name must be public, unless PUSH_PRIVATE_ADDRESSES.
    """
    scheme, host, port, path = _split(url)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ips = [str(entry[4][0]) for entry in found]
    if not settings.PUSH_PRIVATE_ADDRESSES and not all(map(_is_public, ips)):
        raise ForbiddenAddress(host)
    return PushAddress(scheme, host, ips[0], port, path)


def _is_public(ip: str) -> bool:
    """Not loopback, private, link-local, multicast or reserved; mapped ones as their IPv4."""
    address = ip_address(ip.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    one = mapped or address
    return one.is_global and not one.is_multicast


def _split(url: str) -> tuple[str, str, int, str]:
    """Raises: ForbiddenAddress. Only https, and http where private addresses are allowed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ForbiddenAddress(url) from None
    allowed = ("https", "http") if settings.PUSH_PRIVATE_ADDRESSES else ("https",)
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in allowed or not parts.hostname or parts.username or not is_plain:
        raise ForbiddenAddress(url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return parts.scheme, parts.hostname, port or PORTS[parts.scheme], path
