"""Addresses of other servers: push services, webhooks. Others choose them, so they must not lead
into our own network.

Which IP addresses are public, by IANA's registries of special-purpose addresses.

The table is our own, because that of Python's `ipaddress` changes between patches of one release.
https://www.iana.org/assignments/iana-ipv4-special-registry and …-ipv6-special-registry
"""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

# Blocks with a purpose of their own in the protocol (192.0.0.0/24, 2001::/23, 6to4) also count as
# not public where the registry calls a part of them reachable: no push service is there.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
# IANA gives networks out of this block only. What is outside is special: NAT64, IPv4-mapped,
# -compatible and -translated addresses, unique local, link-local, site-local, multicast.
_GIVEN_OUT_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


def is_public(ip: str) -> bool:
    """Whether the address may belong to a server of others. False for a text that is no address.

    No address that has an IPv4 address inside is public: a gateway could lead to that address.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None or address not in _GIVEN_OUT_6:
        return False
    return not any(address in network for network in _NOT_PUBLIC_6)


def is_address(host: str) -> bool:
    """Whether the text is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


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
