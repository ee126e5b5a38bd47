"""Slowing down who guesses passwords: what django-axes counts, for pages, admin and API.

After AXES_FAILURE_LIMIT failures with one name from one address, both together are refused for
AXES_COOLOFF_TIME. Counted in the default database, which signing in needs anyway: with Redis
away, or flushed, nobody gets more tries.
"""

from collections.abc import Mapping
from ipaddress import ip_address

from django.http import HttpRequest

from accounts.api.quotas import address_of

_COLUMN_LENGTH = 255


def name_of(request: HttpRequest, credentials: Mapping[str, str] | None = None) -> str:
    """The name that somebody signs in with, as it is looked up: in any case it is the same one.

    Otherwise Ann, aNn and anN would give three times as many tries.
    """
    given = credentials or request.POST
    name = str(given.get("username") or "").lower()
    return name.replace("\x00", "\ufffd")[:_COLUMN_LENGTH]


def known_address_of(request: HttpRequest) -> str | None:
    """Where they sign in from; None for what is no address, as behind a unix socket."""
    try:
        return str(ip_address(address_of(request)))
    except ValueError:
        return None
