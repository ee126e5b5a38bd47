"""Mastodon's features that do not exist here: answers as of a server that does not use them.

An endpoint that reads answers an empty list. One that would write is missing or refuses, so that
nothing is accepted and dropped. See decision 0063.
"""

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import TidelineError
from infra.api.openapi import error_response
from infra.api.rendering import json_response
from infra.api.request import ApiRequest

NOTHING: dict[str, Any] = {"type": "array", "items": {}, "maxItems": 0}


class NoFederation(TidelineError):
    """Accounts of other servers cannot be seen here, so a block of a server would do nothing."""

    status = 403
    text = "This server does not federate: there are no other domains to block"


class NothingToConfirm(TidelineError):
    """A new account can be used at once. A change of address is confirmed on a page."""

    status = 403
    text = "This method is only available while the e-mail is awaiting confirmation"


class EmptyListView(Endpoint):
    """A list that is always empty. Its subclasses say of which feature."""

    @extend_schema(responses={200: NOTHING})
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(b"[]")


class CustomEmojisView(EmptyListView):
    """Emoji of this server: there are none."""

    public = True


class AnnouncementsView(EmptyListView):
    """Announcements of the administrators: there are none."""


class PeersView(EmptyListView):
    """Other servers that this one knows: there are none."""

    public = True


class DomainBlocksView(Endpoint):
    """Servers that I block: there are no other servers."""

    scopes: ClassVar = {
        "GET": "read:blocks",
        "POST": "write:blocks",
        "DELETE": "write:blocks",
    }

    @extend_schema(responses={200: NOTHING})
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(b"[]")

    @extend_schema(request=None, responses={403: error_response(NoFederation.text)})
    def post(self, request: ApiRequest) -> HttpResponse:
        raise NoFederation

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest) -> HttpResponse:
        """Nothing: no server is blocked. Mastodon answers the same for one that is not."""
        return json_response(b"{}")


class EmailConfirmationsView(Endpoint):
    """Send the mail again that confirms a sign-up: no sign-up waits for one."""

    scopes: ClassVar = {"POST": "write:accounts"}

    @extend_schema(request=None, responses={403: error_response(NothingToConfirm.text)})
    def post(self, request: ApiRequest) -> HttpResponse:
        raise NothingToConfirm
