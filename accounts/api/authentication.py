"""Authenticates a request by its bearer token."""

from functools import partial
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.api.quotas import REFUSED_TOKENS
from accounts.queries.acting import HEADER, act_for
from accounts.queries.viewers import find_viewer
from accounts.token_tags import is_tagged
from accounts.types import Viewer
from infra.api.errors import TidelineError, TokenInvalid
from infra.changes.own_acts import watch_own_acts

SCHEME = "Bearer"
_ACCOUNT = f"HTTP_{HEADER.upper().replace('-', '_')}"


class BearerToken(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Viewer, None] | None:
        """The viewer, or None without a bearer token. Cost: `find_viewer`, and for a service that
        acts for an account `act_for`. Some clients of guests send an empty token: it is none.

        The address pays for a token that is refused. If it has used up its limit of them, a token
        that this site did not make, and that neither memory nor Redis knows, is not looked up in
        the database. So a neighbour behind the same address cannot shut out a new token.
        Raises TokenInvalid, LoginDisabled, TooManyRequests; as `act_for`.
        """
        sent = request.META
        token = _bearer_token(sent.get("HTTP_AUTHORIZATION", ""))
        if not token:
            if _ACCOUNT in sent:
                raise TokenInvalid
            return None
        try:
            viewer = _find(request, token)
            if _ACCOUNT in sent:
                viewer = act_for(viewer, sent[_ACCOUNT])
        except TidelineError:
            REFUSED_TOKENS.charge(request)
            raise
        if viewer.account_id is not None:
            watch_own_acts(viewer.account_id, request.META)
        return viewer, None

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


def _bearer_token(header: str) -> str:
    """Empty without one."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme == SCHEME or scheme.capitalize() == SCHEME else ""


def _find(request: Any, token: str) -> Viewer:
    """Raises: TokenInvalid, LoginDisabled, TooManyRequests."""
    viewer = find_viewer(token, partial(_admit, request, token))
    if viewer is None:
        raise TokenInvalid
    return viewer


def _admit(request: Any, token: str) -> None:
    if not is_tagged(token):
        REFUSED_TOKENS.check(request)
