"""Slows down attackers who guess passwords: django-axes counts failures for pages, admin and API.

After AXES_FAILURE_LIMIT failures with one name from one address, this pair is refused for
AXES_COOLOFF_TIME. After SIGN_IN_FAILURES_PER_ADDRESS failures with any names, the address is.

The counts are in the default database, which every sign-in needs anyway. So an attacker gets no
more tries when Redis is away or was flushed.
"""

from collections.abc import Mapping
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

from accounts.api.quotas import client_network

_COLUMN_LENGTH = 255


class SignInHandler(AxesDatabaseHandler):
    """Counts failures by name and address, and also by address alone.

    Without the second an attacker could try a few common passwords with many names.
    """

    def get_failures(self, request: Any, credentials: Mapping[str, str] | None = None) -> int:
        """The failures with this name from this address.

        At least AXES_FAILURE_LIMIT, which locks, if the address has used up its own limit. Cost:
        one more query by index.
        """
        failures: int = super().get_failures(request, credentials)
        is_spraying = _count_failures_of_address(request) >= settings.SIGN_IN_FAILURES_PER_ADDRESS
        return max(failures, settings.AXES_FAILURE_LIMIT) if is_spraying else failures


def _count_failures_of_address(request: Any) -> int:
    """With any names; 0 if the request has no address."""
    if request.axes_ip_address is None:
        return 0
    since = get_cool_off_threshold(request)
    rows = AccessAttempt.objects.filter(ip_address=request.axes_ip_address, attempt_time__gte=since)
    count: int | None = rows.aggregate(count=Sum("failures_since_start"))["count"]
    return count or 0


def sign_in_name(request: HttpRequest, credentials: Mapping[str, str] | None = None) -> str:
    """The name that is signed in with, in lower case, as sign-in looks it up.

    With the case kept, Ann, aNn and anN would give three times as many tries.
    """
    given = credentials or request.POST
    name = str(given.get("username") or "").lower()
    return name.replace("\x00", "\ufffd")[:_COLUMN_LENGTH]


def sign_in_network(request: HttpRequest) -> str | None:
    """The client's IPv4 address or IPv6 network; None without an address, as on a unix socket."""
    return client_network(request) or None
