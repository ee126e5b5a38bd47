"""Authenticates a request by its bearer token."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.queries.viewers import find_viewer
from accounts.types import Viewer
from infra.api.errors import TokenInvalid

SCHEME = "Bearer"


class BearerToken(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Viewer, None] | None:
        """The viewer, or None without a bearer token. Cost: `find_viewer`.

        Raises TokenInvalid, LoginDisabled.
        """
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != SCHEME and scheme.capitalize() != SCHEME:
            return None
        viewer = find_viewer(token.strip())
        if viewer is None:
            raise TokenInvalid
        return viewer, None

    def authenticate_header(self, request: Request) -> str:
        return SCHEME
