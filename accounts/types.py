"""Values of accounts."""

from datetime import datetime
from enum import IntFlag
from typing import NamedTuple

import msgspec


class Restriction(IntFlag):
    """What an account is restricted to, or what is left of it. Stored as a number.

    LIMITED: its posts are shown to followers only. FROZEN: it may read, but write nothing.
    SUSPENDED: it cannot sign in, and is shown to nobody. PURGING: what it had is being deleted, so
    that it cannot come back. PURGED: all of that is gone.
    """

    NONE = 0
    LIMITED = 1
    FROZEN = 2
    SUSPENDED = 4
    PURGING = 8
    PURGED = 16


class RestrictionState(NamedTuple):
    """The restrictions of an account; a higher `revision` is newer news of them.

    `suspended_at`: since when it is suspended, None while it is not.
    """

    restrictions: Restriction
    revision: int
    suspended_at: datetime | None


class Viewer(msgspec.Struct, frozen=True):
    """Who asks: DRF's `request.user`. `account_id` is None for an application without a user.

    `scopes` holds every scope granted, those included in broader ones too. `application_quota`:
    requests a window, None for the usual. `is_frozen`: may read, but write nothing.
    """

    account_id: int | None
    application_id: int
    scopes: frozenset[str]
    token_id: int
    application_quota: int | None = None
    is_frozen: bool = False

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
    restrictions: Restriction = Restriction.NONE


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
