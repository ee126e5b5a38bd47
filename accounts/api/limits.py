"""Limits on what costs more than a page: sign-ups, applications, tokens, wrong tokens, passwords.

Redis counts them over all web processes (infra/caching/quotas.py). Without Redis each process
counts for itself: nothing is refused because Redis is away, and an address or an account may use
its limit once in each process.
"""

import time

from django.conf import settings
from django.http import HttpRequest

from accounts.api.quotas import QUOTA_PERIOD_S, client_network, wait_s
from infra.api.errors import TooManyRequests
from infra.caching.quotas import QuotaClaim, Quotas

HOUR_S = 3_600


class _Limit:
    """So many requests of one kind from one subject in one period.

    `most`: how many, or the setting that says how many.
    """

    def __init__(self, kind: str, most: int | str, period_s: int) -> None:
        self._kind, self._most = kind, most
        self._quotas = Quotas(period_s)

    def _charge(self, subject: object) -> None:
        usage = self._quotas.use([self._claim(subject)], time.time())
        if not usage.is_granted:
            raise TooManyRequests(wait_s(usage))

    def _check(self, subject: object) -> None:
        usage = self._quotas.find_used_up(self._claim(subject), time.time())
        if usage is not None:
            raise TooManyRequests(wait_s(usage))

    def _claim(self, subject: object) -> QuotaClaim:
        most = self._most
        limit: int = getattr(settings, most) if isinstance(most, str) else most
        return QuotaClaim(f"{self._kind}-{subject}", limit)


class AddressLimit(_Limit):
    """The limit of an IPv4 address or an IPv6 network."""

    def charge(self, request: HttpRequest) -> None:
        """Counts the request. Raises: TooManyRequests. Cost: a round trip, or a hundredth of one
        for high limits.
        """
        self.charge_network(client_network(request))

    def charge_network(self, network: str) -> None:
        """As `charge`, for what is no request of Django."""
        self._charge(network)

    def check(self, request: HttpRequest) -> None:
        """Counts nothing. Raises: TooManyRequests if this process knows that none is left."""
        self.check_network(client_network(request))

    def check_network(self, network: str) -> None:
        """As `check`, for what is no request of Django."""
        self._check(network)


class AccountLimit(_Limit):
    """The limit of an account."""

    def charge(self, account_id: int) -> None:
        """As for an address."""
        self._charge(account_id)

    def check(self, account_id: int) -> None:
        """As for an address."""
        self._check(account_id)


SIGN_UPS = AddressLimit("sign-up", "SIGN_UPS_PER_ADDRESS", HOUR_S)
APPLICATIONS = AddressLimit("application-of", "APPLICATIONS_PER_ADDRESS", HOUR_S)
PASSWORD_RESETS = AddressLimit("password-reset", 20, HOUR_S)
EMAIL_CHANGES = AddressLimit("email-change", 20, HOUR_S)
TOKENS = AddressLimit("token", "TOKENS_PER_ADDRESS", HOUR_S)
# Without a token such a request would be counted by the quota of the address.
REFUSED_TOKENS = AddressLimit("refused-token", "QUOTA_PER_ADDRESS", QUOTA_PERIOD_S)
# Also those that are refused: the largest ones cost two seconds.
UPLOADS = AccountLimit("uploads-of", "UPLOADS_PER_ACCOUNT", HOUR_S)
# Each costs the operator the work of another server.
TRANSLATIONS = AccountLimit("translation-of", 300, HOUR_S)
# Right and wrong ones: each costs a slow hash.
PASSWORDS = AddressLimit("password-of", "PASSWORDS_PER_ADDRESS", QUOTA_PERIOD_S)
# Right ones only: a stranger who sends wrong ones must not keep the person out.
RIGHT_PASSWORDS = AccountLimit("right-password-of", "PASSWORDS_PER_ACCOUNT", HOUR_S)
