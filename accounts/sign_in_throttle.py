"""Limits on passwords that are tried, right or wrong, wherever `authenticate` is called.

Against guessing, django-axes counts failures. After AXES_FAILURE_LIMIT failures with one name from
one address, this pair is refused for AXES_COOLOFF_TIME. After SIGN_IN_FAILURES_PER_ADDRESS failures
with any names, the address is. These counts are in the default database, which every sign-in needs
anyway. So an attacker gets no more tries when Redis is away or was flushed.

Because the hash of a password is slow on purpose, an address may try PASSWORDS_PER_ADDRESS, and an
account may be signed in to PASSWORDS_PER_ACCOUNT times (accounts/api/quotas.py).
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.backends import AxesStandaloneBackend
from axes.exceptions import AxesBackendPermissionDenied
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.db.models import Max, Sum
from django.http import HttpRequest
from django.utils import timezone

from accounts.api.quotas import PASSWORDS, RIGHT_PASSWORDS, client_network
from accounts.models import User
from infra.api.errors import TooManyRequests

_COLUMN_LENGTH = 255


class SignInGuard(AxesStandaloneBackend):
    """The first backend: refuses before a password is hashed."""

    def authenticate(self, request: Any, *args: Any, **credentials: Any) -> None:
        """Raises: TooManyRequests. Cost: a round trip, and the two queries of the guard."""
        PASSWORDS.charge(request)
        try:
            super().authenticate(request, *args, **credentials)
        except AxesBackendPermissionDenied:
            raise TooManyRequests(_left_s(request)) from None


class PasswordBackend(ModelBackend):
    """The second backend: hashes the password."""

    def authenticate(  # type: ignore[override]
        self, request: HttpRequest, username: str | None = None, password: str | None = None
    ) -> User | None:
        """The user, None if name or password is wrong. Raises: TooManyRequests. Cost: the slow
        hash, two queries, and a round trip.
        """
        account_id = _find_account_id(username)
        if account_id is not None:
            RIGHT_PASSWORDS.check(account_id)
        user = super().authenticate(request, username, password)
        if not isinstance(user, User):
            return None
        RIGHT_PASSWORDS.charge(user.pk)
        return user


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


def _find_account_id(name: str | None) -> int | None:
    try:
        account_id: int = User.objects.get_by_natural_key(name).pk
    except User.DoesNotExist:
        return None
    return account_id


def _left_s(request: Any) -> int:
    """The seconds until no failure of this address counts any more."""
    rows = AccessAttempt.objects.filter(ip_address=request.axes_ip_address)
    last = rows.aggregate(last=Max("attempt_time"))["last"] or timezone.now()
    return max(1, ceil((last + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds()))


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
