"""Authenticates a request by its bearer token."""

from functools import partial
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.api.address_limits import REFUSED_TOKENS
from accounts.queries.viewers import find_viewer
from accounts.types import Viewer
from infra.api.errors import LoginDisabled, TokenInvalid

SCHEME = "Bearer"


class BearerToken(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Viewer, None] | None:
        """The viewer, or None without a bearer token. Cost: `find_viewer`.

        The address pays for a token that is refused. If it has used up its limit of them, a token
        that neither memory nor Redis knows is not looked up in the database.
        Raises TokenInvalid, LoginDisabled, TooManyRequests.
        """
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != SCHEME and scheme.capitalize() != SCHEME:
            return None
        try:
            viewer = find_viewer(token.strip(), partial(REFUSED_TOKENS.check, request))
        except LoginDisabled:
            REFUSED_TOKENS.charge(request)
            raise
        if viewer is None:
            REFUSED_TOKENS.charge(request)
            raise TokenInvalid
        return viewer, None

    def authenticate_header(self, request: Request) -> str:
        return SCHEME
