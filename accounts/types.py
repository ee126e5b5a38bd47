"""Values of accounts."""

from datetime import datetime
from typing import NamedTuple

import msgspec


class Viewer(msgspec.Struct, frozen=True):
    """Who asks: DRF's `request.user`. `account_id` is None for an application without a user.

    `scopes` holds every scope granted, those included in broader ones too. `application_quota`:
    requests a window, None for the usual.
    """

    account_id: int | None
    application_id: int
    scopes: frozenset[str]
    token_id: int
    application_quota: int | None = None

    is_authenticated = True


class Profile(NamedTuple):
    """An account's row on its shard."""

    id: int
    username: str
    display_name: str
    note: str
    is_locked: bool
    is_bot: bool
    created_at: datetime
    version: int


class NewUser(msgspec.Struct, frozen=True):
    """What somebody signs up with, not checked yet."""

    username: str
    email: str
    password: str
    display_name: str = ""
    is_superuser: bool = False
    agreement: bool = True


class ProfileEdit(msgspec.Struct, frozen=True):
    """What is to change of a profile; None leaves a field as it is."""

    display_name: str | None = None
    note: str | None = None
    is_locked: bool | None = None
    is_bot: bool | None = None


class NewApplication(msgspec.Struct, frozen=True):
    """What an application registers with, not checked yet; several values separated by blanks."""

    name: str
    redirect_uris: str
    scopes: str
    website: str


class IssuedToken(NamedTuple):
    """An access token as its owner sees it, once: only its checksum is kept."""

    token: str
    scope: str
    created_at: datetime
