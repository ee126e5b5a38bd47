"""Endpoints for the accounts that responded to a post, and for one's own marked posts."""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from infra.api.endpoint import Endpoint
from infra.api.pages import Window, page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.request import ApiRequest
from posts.api import schema
from posts.ids import PostId
from posts.queries.lists import (
    MARK_DIGITS,
    RESPONDER_DIGITS,
    list_marked,
    list_quotes,
    list_responders,
)
from posts.queries.reactions import get_reaction_kind
from posts.types import Kind

DEFAULT_ACCOUNTS, MOST_ACCOUNTS = 40, 80
DEFAULT_POSTS, MOST_POSTS = 20, 40


class RebloggedByView(Endpoint):
    """The accounts that reposted a post, latest first."""

    scopes = {"GET": "read:statuses"}
    public = True
    kind: ClassVar[Kind] = Kind.REPOST

    @extend_schema(parameters=paging(RESPONDER_DIGITS), responses=AccountEntity(many=True))
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return _list_responders(request, status_id, self.kind)


class FavouritedByView(RebloggedByView):
    """The accounts that favourited a post, latest first."""

    kind = Kind.FAVOURITE


class ReactedByView(Endpoint):
    """The accounts that reacted to a post so, latest first."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(
        parameters=[schema.REACTION, *paging(RESPONDER_DIGITS)], responses=AccountEntity(many=True)
    )
    def get(self, request: ApiRequest, status_id: PostId, reaction: str) -> HttpResponse:
        kind = get_reaction_kind(reaction)
        return _list_responders(request, status_id, kind)


class QuotesView(Endpoint):
    """The public and unlisted posts that quote a post, latest first."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(parameters=paging(RESPONDER_DIGITS), responses=schema.StatusEntity(many=True))
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        window = _window(request, DEFAULT_POSTS, MOST_POSTS, RESPONDER_DIGITS)
        return page_response(request, list_quotes(status_id, request.account_id, window))


class FavouritesView(Endpoint):
    """Your favourites, the latest favourite first."""

    scopes = {"GET": "read:favourites"}
    kind: ClassVar[Kind] = Kind.FAVOURITE

    @extend_schema(parameters=paging(MARK_DIGITS), responses=schema.StatusEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        window = _window(request, DEFAULT_POSTS, MOST_POSTS, MARK_DIGITS)
        return page_response(request, list_marked(request.account_id, self.kind, window))


class BookmarksView(FavouritesView):
    """Your bookmarks, the latest bookmark first."""

    scopes = {"GET": "read:bookmarks"}
    kind = Kind.BOOKMARK


def _list_responders(request: ApiRequest, status_id: PostId, kind: Kind) -> HttpResponse:
    window = _window(request, DEFAULT_ACCOUNTS, MOST_ACCOUNTS, RESPONDER_DIGITS)
    return page_response(request, list_responders(status_id, kind, request.viewer_id, window))


def _window(request: ApiRequest, default: int, most: int, width: int) -> Window:
    limit = read_limit(request.query_params.get("limit"), default, most)
    return read_window(request.query_params, limit, width)
