"""Values of accounts."""

from collections.abc import Sequence
from datetime import datetime
from enum import IntFlag
from typing import NamedTuple

import msgspec


class Restriction(IntFlag):
    """The restrictions of an account, and how far it is deleted. Stored as a number.

    LIMITED: only followers see its posts. FROZEN: it may read, but not write. SUSPENDED: it cannot
    sign in, and no account sees it. PURGING: its data is being deleted, so it cannot be restored.
    PURGED: its data is deleted.
    """

    NONE = 0
    LIMITED = 1
    FROZEN = 2
    SUSPENDED = 4
    PURGING = 8
    PURGED = 16

    @property
    def words(self) -> str:
        """The restrictions for operators and moderators: "limited, frozen", or "none"."""
        return (self.name or "NONE").lower().replace("|", ", ")


class RestrictionState(NamedTuple):
    """The restrictions of an account. The higher `revision` is the newer state.

    `suspended_at`: since when; None if it is not suspended.
    """

    restrictions: Restriction
    revision: int
    suspended_at: datetime | None


class Viewer(msgspec.Struct, frozen=True):
    """The caller of a request, DRF's `request.user`.

    `account_id`: None for an application without a user. `scopes`: all granted ones, including
    those that a broader one includes. `application_quota`: requests per period; None: the default.
    `is_frozen`: may read, but not write. `is_acted_for`: a service
    makes the request, for this account. `is_bulk`: people go first while the site is slow.
    """

    account_id: int | None
    application_id: int
    scopes: frozenset[str]
    token_id: int
    application_quota: int | None = None
    is_frozen: bool = False
    is_bulk: bool = False
    is_acted_for: bool = False

    is_authenticated = True


class ProfileField(msgspec.Struct, frozen=True):
    """One line of the table that a profile shows, as its owner typed it."""

    name: str
    value: str


# The visibilities that an account can choose for its new posts.
PRIVACIES = ("public", "unlisted", "private")
# Which accounts may quote a post, besides its author.
QUOTE_POLICIES = ("public", "followers", "nobody")
# Whose replies a home timeline shows, besides those to its reader and the reader's own: to accounts
# that the reader follows and to oneself, to anyone, to no others.
HOME_REPLIES = ("followed", "all", "none")


class ServiceObject(msgspec.Struct, frozen=True, omit_defaults=True):
    """What makes an account a thing of a service, such as a recipe. No person signs in to it.

    `kind`: declared (accounts.queries.object_kinds). `external_id`: the service's own id for it.
    `url`, `image`: addresses at the service; empty: none. `custom`: its JSON object, as text: the
    names keep their order. None in an edit: as it is.
    """

    kind: str
    external_id: str
    url: str | None = None
    image: str | None = None
    custom: str | None = None


class ProfilePicture(NamedTuple):
    """An avatar or a header: the image, and the name of its file. None and empty for none."""

    image_id: int | None
    file_name: str


NO_PICTURE = ProfilePicture(None, "")


class Profile(NamedTuple):
    """An account's row on its shard, as all viewers see it.

    `is_discoverable`: suggestions may name it. `is_indexable`: searches may find its posts.
    `hides_collections`: others see neither its followers nor its followees. `service_object`: None
    for the account of a person.
    """

    id: int
    username: str
    display_name: str
    note: str
    is_bot: bool
    created_at: datetime
    version: int
    is_locked: bool = False
    is_discoverable: bool = True
    is_indexable: bool = True
    hides_collections: bool = False
    avatar: str = ""
    header: str = ""
    restrictions: Restriction = Restriction.NONE
    fields: Sequence[ProfileField] = ()
    service_object: ServiceObject | None = None


class Preferences(NamedTuple):
    """What a new post gets where its request says nothing. `language` empty: none. `quote_policy`:
    which accounts may quote it. And what the account reads: `home_replies`, of HOME_REPLIES."""

    privacy: str
    sensitive: bool
    language: str
    quote_policy: str
    home_replies: str


class ProfileSource(NamedTuple):
    """The texts of a profile as they were typed, and what only its owner sees.

    `follow_requests`: how many await the owner's approval.
    """

    note: str
    fields: Sequence[ProfileField]
    preferences: Preferences
    follow_requests: int


class NewUser(msgspec.Struct, frozen=True):
    """The fields of a sign-up, not validated yet.

    `password` None: another system of the operator knows who this is. Then the email may be empty.
    `is_by_operator`: then, and for a superuser, the username may be one of staff. `service_object`:
    None for a person.
    """

    username: str
    email: str
    password: str | None
    display_name: str = ""
    is_superuser: bool = False
    agreement: bool = True
    language: str = ""
    is_by_operator: bool = False
    service_object: ServiceObject | None = None


class ProfileEdit(msgspec.Struct, frozen=True):
    """A change of a profile. A field that is None stays as it is.

    `language`: empty for none.
    """

    display_name: str | None = None
    note: str | None = None
    is_locked: bool | None = None
    is_bot: bool | None = None
    is_discoverable: bool | None = None
    is_indexable: bool | None = None
    hides_collections: bool | None = None
    fields: Sequence[ProfileField] | None = None
    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None
    home_replies: str | None = None
    avatar: ProfilePicture | None = None
    header: ProfilePicture | None = None
    service_object: ServiceObject | None = None


class NewApplication(msgspec.Struct, frozen=True):
    """The fields of a registration, not validated yet. Several values are separated by blanks."""

    name: str
    redirect_uris: str
    scopes: str
    website: str


class IssuedToken(NamedTuple):
    """An access token in clear. Its owner sees it once: only the checksum is stored. `id`: of its
    row, which may have ended since.
    """

    id: int
    token: str
    scope: str
    created_at: datetime
