"""The address of a client that may be behind proxies, and the network that quotas count."""

from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings

# The network that one subscriber gets: its owner can use any address in it.
_SITE_BITS = 64
_LONGEST = len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535")


def choose_client(forwarded: str | None, peer: str) -> str:
    """The entry of X-Forwarded-For (`forwarded`) before our TRUSTED_PROXIES.

    Clients can write anything into the entries further left. `peer`: where the connection is from.
    """
    hops = [hop.strip() for hop in forwarded.split(",")] if forwarded else []
    hops.append(peer)
    return hops[max(0, len(hops) - 1 - settings.TRUSTED_PROXIES)]


def choose_network(forwarded: str | None, peer: str) -> str:
    """The client's IPv4 address, or the first address of its IPv6 network.

    If a proxy forwards a text that is no address, the network of `peer`. Empty without any address,
    as on a unix socket.
    """
    client = choose_client(forwarded, peer)
    return network_of(client) or network_of(peer)


def network_of(text: str) -> str:
    """Example: 2001:db8:1:2:3::4 is in 2001:db8:1:2::. Empty if it is no address."""
    # Not cached if too long: then a client could fill the memory.
    return _network_of(text) if len(text) <= _LONGEST else ""


@lru_cache(10_000)
def _network_of(text: str) -> str:
    try:
        address = ip_address(_without_port(text))
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address.packed, _SITE_BITS), strict=False).network_address)


def _without_port(text: str) -> str:
    """Some proxies forward `192.0.2.1:5000` and `[2001:db8::1]:5000`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
