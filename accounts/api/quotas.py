"""Request quotas of accounts, applications and addresses (X6).

Requests are counted per period of QUOTA_PERIOD_S. A request with a token counts for the account
and for the application, that of a service for the service only, any other one for its client
address. The headers `X-RateLimit-*` are those
of Mastodon.
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
