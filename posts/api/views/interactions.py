"""Repost, favourite and bookmark a post, and take it back. Of a repost, what it shows is meant.

Doing needs leave to see the post; undoing needs none: whoever was blocked since, or whose post is
gone, can still be let go of.
"""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_draft import check_visibility
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, take_back_repost
from posts.api import schema
from posts.ids import PostId
from posts.queries.interactions import get_any_original, get_interaction_json
from posts.queries.statuses import get_original
from posts.types import Kind


class ReblogView(Endpoint):
    """Repost a post; twice is once. Answers the repost, with the post in it."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        check_visibility(request.data)
        original = get_original(status_id, request.account_id)
        event = repost(request.account_id, original)
        return json_response(get_interaction_json(request.account_id, event, original))


class UnreblogView(Endpoint):
    """Take one's repost of a post back. Answers the post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        original = get_any_original(status_id)
        is_undone = take_back_repost(request.account_id, original)
        return _answer_undone(request, original, is_undone)


class MarkView(Endpoint):
    """What favouriting and bookmarking share."""

    kind: ClassVar[Kind]

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        original = get_original(status_id, request.account_id)
        mark_post(request.account_id, original, self.kind, True)
        return json_response(get_interaction_json(request.account_id, original, original))


class UnmarkView(Endpoint):
    """What taking back a favourite or a bookmark share."""

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
    """Take one's favourite back."""

    scopes = {"POST": "write:favourites"}
    kind = Kind.FAVOURITE


class BookmarkView(MarkView):
    """Bookmark a post; nobody else is told."""

    scopes = {"POST": "write:bookmarks"}
    kind = Kind.BOOKMARK


class UnbookmarkView(UnmarkView):
    """Take one's bookmark back."""

    scopes = {"POST": "write:bookmarks"}
    kind = Kind.BOOKMARK


def _answer_undone(request: ApiRequest, original: PostId, is_undone: bool) -> HttpResponse:
    """Raises PostNotFound when there was nothing of one's own, and the post may not be seen."""
    if not is_undone:
        original = get_original(original, request.account_id)
    return json_response(get_interaction_json(request.account_id, original, original))
