"""The changes that accounts emits."""

from datetime import datetime

from accounts.types import ProfileField, ServiceObject
from infra.changes.registry import Payload


class UserCreated(Payload, frozen=True, omit_defaults=True):
    """On the default database; owner: the new account. Its row must be created on its shard.

    What has a default comes with imported accounts, and with things of services.
    """

    kind = "accounts.user_created"

    username: str
    display_name: str
    created_at: datetime
    note: str = ""
    is_locked: bool = False
    is_bot: bool = False
    is_discoverable: bool = True
    fields: tuple[ProfileField, ...] = ()
    service_object: ServiceObject | None = None


class ProfileChanged(Payload, frozen=True):
    """On the account's shard; owner: the account. The row has the new profile."""

    kind = "accounts.profile_changed"


class UserRenamed(Payload, frozen=True):
    """On the default database; owner: the account. The user's row has the new username."""

    kind = "accounts.user_renamed"


class UserRestricted(Payload, frozen=True, omit_defaults=True):
    """On the default database; owner: the account. The user's row has the new restrictions.

    `is_deleted`: the owner or their product deleted the account, or its data is being deleted.
    """

    kind = "accounts.user_restricted"

    is_deleted: bool = False


class AccountRestricted(Payload, frozen=True, omit_defaults=True):
    """On the account's shard; owner: the account. The row has the new restrictions.

    `is_deleted`: as UserRestricted.
    """

    kind = "accounts.account_restricted"

    is_deleted: bool = False


class TokenRevoked(Payload, frozen=True):
    """On the default database; owner: the token's user, 0 for an application's own token."""

    kind = "accounts.token_revoked"

    checksum: str


class PasswordResetAsked(Payload, frozen=True):
    """On the default database; owner: the user who gets a mail, 0 if the name was unknown."""

    kind = "accounts.password_reset_asked"


class EmailChangeAsked(Payload, frozen=True):
    """On the default database; owner: the user. A mail to `email` must prove that they read it."""

    kind = "accounts.email_change_asked"

    email: str


class EmailChanged(Payload, frozen=True):
    """On the default database; owner: the user. `before`: the address before; may be empty."""

    kind = "accounts.email_changed"

    before: str
