"""The home timeline of a user, for a page that must not wait for it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tideline_client import AccountCalls, NotFound, TidelineError
from tideline_client.contrib.django.connection import tideline
from tideline_client.contrib.django.models import AccountSync
from tideline_client.contrib.django.profiles import external_id_of
from tideline_client.contrib.django.settings import read_settings
from tideline_client.models import HomeItem

log = logging.getLogger(__name__)


class AccountNotReady(TidelineError):
    """`sync_tideline` has not sent the user yet, or Tideline refused it."""


class FeedState(StrEnum):
    """What there is to show."""

    READY = "ready"
    # Tideline has not got the user yet.
    PREPARING = "preparing"
    # Tideline did not answer in time, or refused.
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Feed:
    """Statuses, the newest first, and why there are none. `older`: for `load_feed(max_id=…)`."""

    state: FeedState
    statuses: Sequence[HomeItem] = field(default_factory=list)
    older: str = ""


def acting_for(user: Any) -> AccountCalls:
    """The calls of Tideline as this user: `acting_for(request.user).statuses.create("Hello")`.

    Raises: AccountNotReady. Cost: a query.
    """
    return tideline().acting_for(account_id_of(user))


def account_id_of(user: Any) -> str:
    """The user's account at Tideline, for calls that name it. Raises: AccountNotReady."""
    account_id = find_account_id(user)
    if not account_id:
        raise AccountNotReady(f"Tideline has not got user {user.pk} yet: is sync_tideline running?")
    return account_id


def find_account_id(user: Any) -> str:
    """ "": Tideline has not got the user yet. Cost: a query."""
    rows = AccountSync.objects.filter(external_id=external_id_of(user))
    return rows.values_list("account_id", flat=True).first() or ""


def load_feed(user: Any, limit: int = 20, max_id: str | None = None) -> Feed:
    """The user's home timeline. It raises nothing: the page has other parts too.

    Cost: a query, and `PAGE_DEADLINE_MS` at most.
    """
    account_id = find_account_id(user)
    if not account_id:
        return Feed(FeedState.PREPARING)
    patient = tideline().with_patience(deadline_ms=read_settings().page_deadline_ms, retries=0)
    try:
        home = patient.acting_for(account_id).timelines.home(limit=limit, max_id=max_id)
        page = home.first()
    except NotFound:
        return Feed(FeedState.PREPARING)
    except TidelineError as error:
        log.warning("The feed of user %s is left out: %s", user.pk, error)
        return Feed(FeedState.AWAY)
    older = page.next.get("max_id", "") if page.next else ""
    return Feed(FeedState.READY, [item for item in page.items if not _is_hidden(item)], older)


def _is_hidden(item: HomeItem) -> bool:
    """Tideline leaves it to clients what to do with a post that a filter of the user hides."""
    results = [*item.filtered, *(item.reblog.filtered if item.reblog else ())]
    return any(result.filter.filter_action == "hide" for result in results)
