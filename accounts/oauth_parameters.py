"""The parameters of OAuth requests: which of them are read, and how long they may be."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict

from infra.api.errors import TidelineError

# All others are ignored (RFC 6749, section 3.1). Those of OpenID Connect would be stored.
NAMES = frozenset(
    (
        "client_id", "client_secret", "code", "code_challenge", "code_challenge_method",
        "code_verifier", "force_login", "grant_type", "password", "redirect_uri", "refresh_token",
        "response_type", "scope", "state", "token", "token_type_hint", "username",
    )
)  # fmt: skip
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"  # RFC 7523
# In characters. All scopes together fit, each named once.
LONGEST_SCOPE = 1_000
LONGEST = 4_000
CHALLENGE_METHODS = ("S256",)
_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636, section 4.2


class OAuthParameterRefused(TidelineError):
    """A parameter is wrong. The answer has the form of OAuth's own errors."""

    status = 400
    code = "invalid_request"

    def body(self) -> dict[str, object]:
        return {"error": self.code, "error_description": str(self)}


class TokenOfAnother(OAuthParameterRefused):
    """Who wants to end the token is not the client that got it."""

    status = 403
    code = "unauthorized_client"
    text = "You are not authorized to revoke this token"


def read_parameters(sent: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """The texts among them that OAuth has names for, as the toolkit and the database take them.

    NUL characters, which database text cannot hold, are replaced: such a value is not found.
    Raises: OAuthParameterRefused.
    """
    known = [(name, v) for name, v in sent if name in NAMES and isinstance(v, str)]
    for name, value in known:
        most = LONGEST_SCOPE if name == "scope" else LONGEST
        if len(value) > most:
            raise OAuthParameterRefused(f"{name} is longer than {most} characters")
    return [(name, _clean(name, value)) for name, value in known]


def read_query(sent: QueryDict) -> Any:
    """The same for the query of a page, with its challenge (PKCE). Repeated parameters stay
    repeated, because they are an error."""
    query = QueryDict(mutable=True)
    for name, value in read_parameters((n, v) for n, values in sent.lists() for v in values):
        query.appendlist(name, value)
    check_challenge(query)
    return query


def check_challenge(parameters: Mapping[str, Any]) -> None:
    """Refuses a challenge that is malformed or protects nothing: RFC 9700 has no `plain`, which is
    also what a challenge without a method would be. None is needed. Raises: OAuthParameterRefused.
    """
    challenge, method = (parameters.get(f"code_challenge{end}") for end in ("", "_method"))
    if challenge and not _CHALLENGE.fullmatch(challenge):
        raise OAuthParameterRefused(
            "code_challenge must be 43 to 128 letters, digits, -, ., _ or ~"
        )
    if (challenge or method) and method not in CHALLENGE_METHODS:
        raise OAuthParameterRefused("code_challenge_method must be S256")


def _clean(name: str, value: str) -> str:
    text = value.replace("\x00", "\ufffd")
    return clean_scope(text) if name == "scope" else text


def clean_scope(text: str) -> str:
    """Each scope once. Repeated ones would be stored with every token."""
    return " ".join(dict.fromkeys(text.split()))
