"""Values of identities."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from accounts.types import ProfileEdit

# The issuer of ids that services give: all services mean the same person by one id.
OWN_IDS = ""
# The issuer of ids of things, before their kind. No address of an issuer begins so.
OBJECTS = "object:"
# Signatures by a private key only: who checks one cannot make another.
ASSERTION_ALGORITHMS = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "EdDSA")


class ExternalId(NamedTuple):
    """The id that an issuer has for a person. `issuer`: OWN_IDS, or the address of another one."""

    subject: str
    issuer: str = OWN_IDS


def id_of_object(kind: str, external_id: str) -> ExternalId:
    """The identity of a thing of a service: the kinds have ids of their own."""
    return ExternalId(external_id, f"{OBJECTS}{kind}")


class BoundAccount(NamedTuple):
    """The account of an identity."""

    subject: str
    account_id: int
    username: str
    is_suspended: bool


class WantedAccount(msgspec.Struct, frozen=True):
    """What a service wants an account to be. `username` None: as it is; a new one needs it, if it
    is one of a person."""

    username: str | None
    edit: ProfileEdit


class ProvisionedAccount(NamedTuple):
    """`is_new`: it was created by this call."""

    account: BoundAccount
    is_new: bool


class Assertion(msgspec.Struct, frozen=True):
    """The claims of a JWT that says who a person is. Times: Unix seconds."""

    iss: str
    sub: str
    aud: str | list[str]
    exp: float
    iat: float
    jti: str
    nbf: float = 0
    preferred_username: str | None = None
    name: str | None = None


class NewIssuer(msgspec.Struct, frozen=True):
    """What an operator says of an issuer, not validated yet. `keys`: the text of a JWK set."""

    name: str
    issuer: str
    audience: str
    algorithms: Sequence[str]
    keys: str | None
    keys_url: str
    has_own_ids: bool
    may_create: bool
    scopes: Sequence[str]
