"""Endpoints for interactions: repost, react to or bookmark a post, and undo it.

An interaction with a repost is one with its original. The viewer must be allowed to see the post
to interact with it, but not to undo: a viewer can undo after a block or after a deletion.
"""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_draft import read_visibility
from posts.actions.mark_post import mark_post, mute_thread, pin_post
from posts.actions.repost import repost, undo_repost
from posts.api import schema
from posts.errors import NotAuthor
from posts.ids import PostId
from posts.queries.interactions import get_any_original, get_interaction_json
from posts.queries.reactions import get_reaction_kind
from posts.queries.threads import get_any_threaded, get_threaded
from posts.reading.statuses import get_original, get_repostable
from posts.types import Kind, Visibility


class ReblogView(Endpoint):
    """Repost a post. Answers with the repost, which contains the post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=schema.RepostBody, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        wanted = read_visibility(request.data, Visibility.UNLISTED)
        original, most_open = get_repostable(status_id, request.account_id)
        event = repost(request.account_id, original, max(wanted, most_open))
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
        return _mark(request, status_id, self.kind)


class UnmarkView(Endpoint):
    """Base of the endpoints that end a viewer mark."""

    kind: ClassVar[Kind]

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return _unmark(request, status_id, self.kind)


class ReactView(Endpoint):
    """React to a post: `favourite`, or a reaction that a service declared."""

    scopes = {"POST": "write:favourites"}

    @extend_schema(parameters=[schema.REACTION], request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId, reaction: str) -> HttpResponse:
        return _mark(request, status_id, get_reaction_kind(reaction))


class UnreactView(Endpoint):
    """Undo your reaction to a post."""

    scopes = {"POST": "write:favourites"}

    @extend_schema(parameters=[schema.REACTION], request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId, reaction: str) -> HttpResponse:
        return _unmark(request, status_id, get_reaction_kind(reaction))


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


class MuteThreadView(Endpoint):
    """Mute the thread of a post: its posts no longer notify you."""

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        post_id, thread = get_threaded(status_id, request.account_id)
        mute_thread(request.account_id, thread)
        return json_response(get_interaction_json(request.account_id, post_id, post_id))


class UnmuteThreadView(Endpoint):
    """Let the thread of a post notify you again."""

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        post_id, thread = get_any_threaded(status_id)
        is_undone = mark_post(request.account_id, thread, Kind.THREAD_MUTE, False)
        return _answer_undone(request, post_id, is_undone)


class PinView(Endpoint):
    """Pin your own post to your page. Reposts cannot be pinned."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        if status_id.author_id != request.account_id:
            get_original(status_id, request.account_id)
            raise NotAuthor
        pin_post(status_id)
        return json_response(get_interaction_json(request.account_id, status_id, status_id))


class UnpinView(UnmarkView):
    """Undo the pin of your own post."""

    scopes = {"POST": "write:accounts"}
    kind = Kind.PIN


def _mark(request: ApiRequest, status_id: PostId, kind: Kind) -> HttpResponse:
    original = get_original(status_id, request.account_id)
    mark_post(request.account_id, original, kind, True)
    return json_response(get_interaction_json(request.account_id, original, original))


def _unmark(request: ApiRequest, status_id: PostId, kind: Kind) -> HttpResponse:
    original = get_any_original(status_id)
    is_undone = mark_post(request.account_id, original, kind, False)
    return _answer_undone(request, original, is_undone)


def _answer_undone(request: ApiRequest, original: PostId, is_undone: bool) -> HttpResponse:
    """Raises: PostNotFound if nothing was undone and the viewer may not see the post."""
    if not is_undone:
        original = get_original(original, request.account_id)
    return json_response(get_interaction_json(request.account_id, original, original))
