"""Endpoints for interactions: repost, favourite or bookmark a post, and undo it.

An interaction with a repost is one with its original. The viewer must be allowed to see the post
to interact with it, but not to undo: a viewer can undo after a block or after a deletion.
"""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_draft import check_visibility
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.api import schema
from posts.ids import PostId
from posts.queries.interactions import get_any_original, get_interaction_json
from posts.queries.statuses import get_original
from posts.types import Kind


class ReblogView(Endpoint):
    """Repost a post. Answers with the repost, which contains the post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=schema.RepostBody, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        check_visibility(request.data)
        original = get_original(status_id, request.account_id)
        event = repost(request.account_id, original)
        return json_response(get_interaction_json(request.account_id, event, original))


class UnreblogView(Endpoint):
    """Undo your repost of a post. Answers with the post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        original = get_any_original(status_id)
        is_undone = undo_repost(request.account_id, original)
        return _answer_undone(request, original, is_undone)


class MarkView(Endpoint):
    """Base of the endpoints that set a viewer mark."""

    kind: ClassVar[Kind]

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        original = get_original(status_id, request.account_id)
        mark_post(request.account_id, original, self.kind, True)
        return json_response(get_interaction_json(request.account_id, original, original))


class UnmarkView(Endpoint):
    """Base of the endpoints that end a viewer mark."""

    kind: ClassVar[Kind]

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        original = get_any_original(status_id)
        is_undone = mark_post(request.account_id, original, self.kind, False)
        return _answer_undone(request, original, is_undone)


class FavouriteView(MarkView):
    """Favourite a post."""

    scopes = {"POST": "write:favourites"}
    kind = Kind.FAVOURITE


class UnfavouriteView(UnmarkView):
    """Undo your favourite of a post."""

    scopes = {"POST": "write:favourites"}
    kind = Kind.FAVOURITE


class BookmarkView(MarkView):
    """Bookmark a post. Bookmarks are private."""

    scopes = {"POST": "write:bookmarks"}
    kind = Kind.BOOKMARK


class UnbookmarkView(UnmarkView):
    """Undo your bookmark of a post."""

    scopes = {"POST": "write:bookmarks"}
    kind = Kind.BOOKMARK


def _answer_undone(request: ApiRequest, original: PostId, is_undone: bool) -> HttpResponse:
    """Raises: PostNotFound if nothing was undone and the viewer may not see the post."""
    if not is_undone:
        original = get_original(original, request.account_id)
    return json_response(get_interaction_json(request.account_id, original, original))
