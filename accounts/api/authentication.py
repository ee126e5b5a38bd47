"""Authenticates a request by its bearer token."""

from functools import partial
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.api.limits import REFUSED_TOKENS
from accounts.errors import LoginDisabled
from accounts.queries.viewers import find_viewer
from accounts.token_tags import is_tagged
from accounts.types import Viewer
from infra.api.errors import TokenInvalid
from infra.changes.own_acts import watch_own_acts

SCHEME = "Bearer"


def _admit(request: Any, token: str) -> None:
    if not is_tagged(token):
        REFUSED_TOKENS.check(request)


class BearerToken(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Viewer, None] | None:
        """The viewer, or None without a bearer token. Cost: `find_viewer`.

        The address pays for a token that is refused. If it has used up its limit of them, a token
        that this site did not make, and that neither memory nor Redis knows, is not looked up in
        the database. So a neighbour behind the same address cannot shut out a new token.
        Raises TokenInvalid, LoginDisabled, TooManyRequests.
        """
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != SCHEME and scheme.capitalize() != SCHEME:
            return None
        token = token.strip()
        try:
            viewer = find_viewer(token, partial(_admit, request, token))
        except LoginDisabled:
            REFUSED_TOKENS.charge(request)
            raise
        if viewer is None:
            REFUSED_TOKENS.charge(request)
            raise TokenInvalid
        if viewer.account_id is not None:
            watch_own_acts(viewer.account_id, request.META)
        return viewer, None

    def authenticate_header(self, request: Request) -> str:
        return SCHEME
