"""Slowing down who guesses passwords: what django-axes counts, for pages, admin and API.

After AXES_FAILURE_LIMIT failures with one name from one address, both together are refused for
AXES_COOLOFF_TIME; after SIGN_IN_FAILURES_PER_ADDRESS with any names, the address is (guessing.py).
Counted in the default database, which signing in needs anyway: with Redis away, or flushed, nobody
gets more tries.
"""

from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.http import HttpRequest

from accounts.api.quotas import client_address

_COLUMN_LENGTH = 255
# What one subscriber is given: any address in it is theirs.
_SITE_BITS = 64


def sign_in_name(request: HttpRequest, credentials: Mapping[str, str] | None = None) -> str:
    """The name that somebody signs in with, as it is looked up: in any case it is the same one.

    Otherwise Ann, aNn and anN would give three times as many tries.
    """
    given = credentials or request.POST
    name = str(given.get("username") or "").lower()
    return name.replace("\x00", "\ufffd")[:_COLUMN_LENGTH]


def sign_in_network(request: HttpRequest) -> str | None:
    """Where they sign in from, of IPv6 the network; None for what is no address, as behind a unix
    socket."""
    try:
        return _site_of(client_address(request))
    except ValueError:
        return None


def _site_of(text: str) -> str:
    """Raises ValueError. Example: 2001:db8:1:2:3::4 is of 2001:db8:1:2::."""
    address = ip_address(text)
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address.packed, _SITE_BITS), strict=False).network_address)
