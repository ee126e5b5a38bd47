"""Values of identities."""

from typing import NamedTuple

import msgspec

from accounts.types import ProfileEdit

# The issuer of ids that services give: all services of a tenant mean the same person by one id.
OWN_IDS = ""


class ExternalId(NamedTuple):
    """The id that an issuer has for a person. `issuer`: OWN_IDS, or the address of another one."""

    tenant: int
    subject: str
    issuer: str = OWN_IDS


class BoundAccount(NamedTuple):
    """The account of an identity."""

    subject: str
    account_id: int
    username: str
    is_suspended: bool


class WantedAccount(msgspec.Struct, frozen=True):
    """What a service wants an account to be. `username` None: as it is; a new one needs it."""

    username: str | None
    edit: ProfileEdit


class ProvisionedAccount(NamedTuple):
    """`is_new`: it was created by this call."""

    account: BoundAccount
    is_new: bool
