"""Request quotas of accounts, applications and addresses (X6).

Requests are counted per period of QUOTA_PERIOD_S. A request with a token counts for the account
and for the application, that of a service for the service only, any other one for its client
address. The headers `X-RateLimit-*` are those
of Mastodon.

Limits on what costs more than a page: sign-ups, applications, tokens, wrong tokens, passwords.

Redis counts them over all web processes (infra/caching/quotas.py). Without Redis each process
counts for itself: nothing is refused because Redis is away, and an address or an account may use
its limit once in each process.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache

from django.conf import settings
from django.core.signals import setting_changed
from django.http import HttpRequest

from accounts.types import Viewer
from infra.api.addresses import choose_network
from infra.api.errors import TooManyRequests
from infra.api.meters import Charge
from infra.caching.client import redis
from infra.caching.questions import Replies
from infra.caching.quotas import QuotaClaim, Quotas, QuotaUsage, QuotaUse
from infra.confirmations import Refused, Rider, confirm_later

QUOTA_PERIOD_S = 300
MOST_CALLERS = 10_000
# In the environment of a request: its page was counted. No client can set it: it is no header.
COUNTED = "tideline.counted"
quotas = Quotas(QUOTA_PERIOD_S)


class CallerQuotas:
    """The request meter of Endpoint."""

    def charge(self, request: HttpRequest, caller: Viewer | None) -> Charge | None:
        """Counts the request. Cost: one more command per hundredth of the quota, in the next round
        trip of a read. Without Redis each process counts for itself, so reads and writes go on."""
        if caller is None and COUNTED in request.META:
            return None
        claims = [_of_address(request)] if caller is None else _of_caller(caller)
        return QuotaCharge(quotas.begin(claims, time.time()))


class QuotaCharge:
    """One request's use of its quotas: a Charge."""

    def __init__(self, use: QuotaUse) -> None:
        self._use = use

    def settle(self) -> None:
        use = self._use
        if use.usage is None and not confirm_later(Rider(use.commands, self._ride, redis().run)):
            use.ask()
        if use.usage is not None:
            _check(use.usage)

    def _ride(self, replies: Replies) -> None:
        """Raises: Refused."""
        try:
            _check(self._use.receive(replies))
        except TooManyRequests as error:
            raise Refused(error) from error

    def headers(self) -> Mapping[str, str]:
        return _headers(self._use.usage) if self._use.usage is not None else {}


def _check(usage: QuotaUsage) -> None:
    if not usage.is_granted:
        raise TooManyRequests(wait_s(usage), _headers(usage))


def charge_account(account_id: int) -> None:
    """Counts a page that does more than ask the API. Raises: TooManyRequests."""
    usage = quotas.use([_of_account(account_id)], time.time())
    if not usage.is_granted:
        raise TooManyRequests(wait_s(usage))


def charge_address(request: HttpRequest) -> None:
    """Counts a page of a guest. What the page then asks the API is not counted again.

    Raises: TooManyRequests.
    """
    if COUNTED in request.META:
        return  # a page that another page has made
    usage = quotas.use([_of_address(request)], time.time())
    if not usage.is_granted:
        raise TooManyRequests(wait_s(usage))
    request.META[COUNTED] = "yes"


def _of_caller(caller: Viewer) -> Sequence[QuotaClaim]:
    account_limit, application_limit = _limits()
    own_limit = caller.application_quota or application_limit
    # What a service does for a person must not keep this person out.
    account_id = None if caller.is_acted_for else caller.account_id
    return _claims(account_id, account_limit, caller.application_id, own_limit)


def _of_account(account_id: int) -> QuotaClaim:
    return QuotaClaim(f"account-{account_id}", settings.QUOTA_PER_ACCOUNT)


@cache
def _limits() -> tuple[int, int]:
    """Of an account and of an application. Django takes 0.3 us to find one setting."""
    return settings.QUOTA_PER_ACCOUNT, settings.QUOTA_PER_APPLICATION


setting_changed.connect(lambda **_: _limits.cache_clear(), weak=False)


@lru_cache(MOST_CALLERS)
def _claims(
    account_id: int | None, account_limit: int, application_id: int, application_limit: int
) -> Sequence[QuotaClaim]:
    """Cached: the claims are the same for all requests of a caller."""
    application = QuotaClaim(f"application-{application_id}", application_limit)
    if account_id is None:
        return (application,)
    return QuotaClaim(f"account-{account_id}", account_limit), application


def _of_address(request: HttpRequest) -> QuotaClaim:
    return QuotaClaim(f"address-{client_network(request)}", settings.QUOTA_PER_ADDRESS)


def client_network(request: HttpRequest) -> str:
    """The IPv4 address or IPv6 network of the client; empty without one, as on a unix socket."""
    meta = request.META
    return choose_network(meta.get("HTTP_X_FORWARDED_FOR"), meta.get("REMOTE_ADDR", ""))


def _headers(usage: QuotaUsage) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(usage.limit),
        "X-RateLimit-Remaining": str(usage.remaining),
        "X-RateLimit-Reset": _moment(usage.reset_at),
    }


@lru_cache(8)
def _moment(unix_s: int) -> str:
    return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%dT%H:%M:%S}.000000Z"


def wait_s(usage: QuotaUsage) -> int:
    """The seconds until the next period, at least 1."""
    return max(1, usage.reset_at - int(time.time()))


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
