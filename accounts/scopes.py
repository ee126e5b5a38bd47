"""Mastodon's OAuth scopes: their names, and which scopes a broad scope includes."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext_noop as _
from oauth2_provider.scopes import BaseScopes

# What people read when they let an application in. Pages translate it.
BROAD = {
    "read": _("Read everything of your account"),
    "write": _("Change everything of your account"),
    "follow": _("Follow, block and mute for you"),
    "push": _("Receive your push notifications"),
    "profile": _("Read your profile only"),
}
DESCRIPTIONS = {
    **BROAD,
    "read:accounts": _("Read your profile"),
    "read:blocks": _("Read your blocks"),
    "read:bookmarks": _("Read your bookmarks"),
    "read:favourites": _("Read your favourites"),
    "read:filters": _("Read your filters"),
    "read:follows": _("Read your follows"),
    "read:lists": _("Read your lists"),
    "read:mutes": _("Read your mutes"),
    "read:notifications": _("Read your notifications"),
    "read:search": _("Read your search results"),
    "read:statuses": _("Read your posts"),
    "write:accounts": _("Change your profile"),
    "write:blocks": _("Change your blocks"),
    "write:bookmarks": _("Change your bookmarks"),
    "write:conversations": _("Change your direct messages"),
    "write:favourites": _("Change your favourites"),
    "write:filters": _("Change your filters"),
    "write:follows": _("Change your follows"),
    "write:lists": _("Change your lists"),
    "write:media": _("Change your photos"),
    "write:mutes": _("Change your mutes"),
    "write:notifications": _("Change your notifications"),
    "write:reports": _("Change your reports"),
    "write:statuses": _("Change your posts"),
}
# Only an operator gives these, to an application of their own (manage.py services create).
OF_SERVICES = {
    "service:changes": "Read what happened on the whole site",
    "service:relations": "Read the relations of all accounts",
    "service:accounts": "Create accounts, and change their profiles",
    "service:read": "Read what any account may read, for it",
    "service:write": "Do what any account may do, for it",
}
_NAMES = frozenset(DESCRIPTIONS | OF_SERVICES)
# In the order of their bits in the names of tokens.
_BY_BIT = tuple(DESCRIPTIONS | OF_SERVICES)
DEFAULT = "read"

_INCLUDED = {
    "read": {name for name in DESCRIPTIONS if name.startswith("read:")} | {"profile"},
    "read:accounts": {"profile"},
    "write": {name for name in DESCRIPTIONS if name.startswith("write:")},
    "follow": {
        f"{act}:{what}" for act in ("read", "write") for what in ("follows", "blocks", "mutes")
    },
}


def expand_scopes(scope: str) -> frozenset[str]:
    """All scopes of this scope text, including those that a broader one includes."""
    return _expand(_NAMES.intersection(scope.split()))


@lru_cache(maxsize=1_024)
def _expand(named: frozenset[str]) -> frozenset[str]:
    """Cached, so that viewers share it. The key has only names of ours: no client makes it long."""
    return named.union(*(_INCLUDED.get(name, ()) for name in named))


def number_of(scope: str) -> int:
    """The names of this scope text as bits, for the names of tokens."""
    named = _NAMES.intersection(scope.split())
    return sum(1 << bit for bit, name in enumerate(_BY_BIT) if name in named)


@lru_cache(maxsize=1_024)
def scopes_of(number: int) -> frozenset[str]:
    """All scopes of such a number, as `expand_scopes`. After an update the bits may mean others."""
    return _expand(frozenset(name for bit, name in enumerate(_BY_BIT) if number >> bit & 1))


# What a service may do for an account. A push subscription belongs to a device of a person.
FOR_ACCOUNTS = {"service:read": expand_scopes("read"), "service:write": expand_scopes("write")}


@lru_cache(maxsize=64)
def scopes_for_accounts(granted: frozenset[str]) -> frozenset[str]:
    """The scopes that a service has while it acts for an account. Empty: it may not.

    `granted`: to the service.
    """
    return frozenset().union(*(FOR_ACCOUNTS.get(name, ()) for name in granted))


def unknown_scopes(scope: str) -> list[str]:
    return [name for name in scope.split() if name not in DESCRIPTIONS]


class MastodonScopes(BaseScopes):
    """The scopes for django-oauth-toolkit. An application may use those that it registered."""

    def get_all_scopes(self) -> dict[str, str]:
        return DESCRIPTIONS | OF_SERVICES

    def get_available_scopes(self, application: Any = None, **_: Any) -> Iterable[str]:
        return DESCRIPTIONS if application is None else expand_scopes(application.scopes)

    def get_default_scopes(self, application: Any = None, **_: Any) -> list[str]:
        """`read`; for an application that did not register it, all that it registered."""
        if application is None or DEFAULT in application.scopes.split():
            return [DEFAULT]
        return application.scopes.split()
