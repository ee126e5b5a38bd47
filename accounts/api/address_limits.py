"""Limits of addresses on what costs more than a page: sign-ups, applications, tokens, wrong tokens.

Redis counts them over all web processes (infra/caching/quotas.py). Without Redis each process
counts for itself: nothing is refused because Redis is away, and an address may use its limit once
in each process.
"""

import time

from django.conf import settings
from django.http import HttpRequest

from accounts.api.quotas import QUOTA_WINDOW_S, client_network, wait_s
from infra.api.errors import TooManyRequests
from infra.caching.quotas import QuotaClaim, Quotas

HOUR_S = 3_600


class AddressLimit:
    """So many requests of one kind from one address in one window. `setting`: how many."""

    def __init__(self, kind: str, setting: str, window_s: int) -> None:
        self._kind, self._setting = kind, setting
        self._quotas = Quotas(window_s)

    def charge(self, request: HttpRequest) -> None:
        """Counts the request. Raises: TooManyRequests. Cost: a round trip, or a hundredth of one
        for high limits.
        """
        usage = self._quotas.use([self._claim(request)], time.time())
        if not usage.is_granted:
            raise TooManyRequests(wait_s(usage))

    def check(self, request: HttpRequest) -> None:
        """Counts nothing. Raises: TooManyRequests if this process knows that none is left."""
        usage = self._quotas.find_used_up(self._claim(request), time.time())
        if usage is not None:
            raise TooManyRequests(wait_s(usage))

    def _claim(self, request: HttpRequest) -> QuotaClaim:
        limit: int = getattr(settings, self._setting)
        return QuotaClaim(f"{self._kind}-{client_network(request)}", limit)


SIGN_UPS = AddressLimit("sign-up", "SIGN_UPS_PER_ADDRESS", HOUR_S)
APPLICATIONS = AddressLimit("application-of", "APPLICATIONS_PER_ADDRESS", HOUR_S)
PASSWORD_RESETS = AddressLimit("password-reset", "PASSWORD_RESETS_PER_ADDRESS", HOUR_S)
EMAIL_CHANGES = AddressLimit("email-change", "EMAIL_CHANGES_PER_ADDRESS", HOUR_S)
TOKENS = AddressLimit("token", "TOKENS_PER_ADDRESS", HOUR_S)
# Without a token such a request would be counted by the quota of the address.
REFUSED_TOKENS = AddressLimit("refused-token", "QUOTA_PER_ADDRESS", QUOTA_WINDOW_S)
