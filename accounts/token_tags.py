"""Access tokens end with a tag: a keyed hash of the rest, which only this site can make.

So this site recognizes its own tokens without a query. The token of a user also names whose it is,
so a process that meets it for the first time begins to read at once. Neither the tag nor the name
proves a right: the database still decides what a token allows.

    {43 random characters}.{name}{tag of 16 characters}
"""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple

import msgspec
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.scopes import number_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

_RANDOM_BYTES = 32
_TAG_CHARACTERS = 16
_SALT = "accounts.token_tags"
_NEXT_ID = "SELECT nextval(pg_get_serial_sequence('accounts_accesstoken', 'id'))"


class TokenName(NamedTuple):
    """Whose the token is. `scopes`: as bits (accounts/scopes.py)."""

    token_id: int
    account_id: int
    application_id: int
    scopes: int


_decoder = msgspec.msgpack.Decoder(TokenName)


def generate_token(request: Any = None) -> str:
    """A new access token of the toolkit's request. It has a name if it is for a user.

    Cost: a query for the id of its row.
    """
    user, client = getattr(request, "user", None), getattr(request, "client", None)
    if user is None or client is None or request.scopes is None:
        return generate_unnamed_token()
    return generate_named_token(user.pk, client.pk, " ".join(request.scopes))


def generate_named_token(account_id: int, application_id: int, scope: str) -> str:
    """The row that is saved with it takes the id that it names. Cost: a query for this id."""
    [token_id] = fetch_one(GLOBAL_ALIAS, _NEXT_ID)  # type: ignore[misc]  # always a row
    name = TokenName(token_id, account_id, application_id, number_of(scope))
    encoded = urlsafe_b64encode(msgspec.msgpack.encode(name)).decode().rstrip("=")
    return _tagged(f"{secrets.token_urlsafe(_RANDOM_BYTES)}.{encoded}")


def generate_unnamed_token(request: Any = None) -> str:
    """Of an application, or to renew a token. The parameter is that of the toolkit's generators."""
    return _tagged(secrets.token_urlsafe(_RANDOM_BYTES))


def is_tagged(token: str) -> bool:
    """Whether this site made the token. False for tokens of releases before the tag, and after a
    change of SECRET_KEY.
    """
    head, tag = token[:-_TAG_CHARACTERS], token[-_TAG_CHARACTERS:]
    return constant_time_compare(tag, _tag(head))


def read_name(token: str) -> TokenName | None:
    """The name in a token of this site. None: it has none, or this site did not make it."""
    _, dot, encoded = token[:-_TAG_CHARACTERS].partition(".")
    if not dot or not is_tagged(token):
        return None
    return _decoder.decode(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))


def _tagged(head: str) -> str:
    return head + _tag(head)


def _tag(head: str) -> str:
    digest = salted_hmac(_SALT, head, algorithm="sha256").digest()
    return urlsafe_b64encode(digest).decode()[:_TAG_CHARACTERS]
