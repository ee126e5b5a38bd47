"""Endpoints that publish, read and delete a post, and read its conversation."""

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED, tagged_response
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_draft import check_draft, check_key, check_parent
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.api import schema
from posts.api.present import with_source
from posts.errors import ParentNotFound, PostNotFound
from posts.ids import PostId
from posts.queries.context import load_context
from posts.queries.interactions import (
    get_any_original,
    get_interaction_json,
    get_published_json,
)
from posts.queries.statuses import get_original, load_status_json
from posts.types import Draft


class StatusesView(Endpoint):
    """Publish a post or a reply. A repeated Idempotency-Key returns the first post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(
        parameters=[schema.IDEMPOTENCY_KEY],
        request=schema.StatusBody,
        responses={200: schema.StatusEntity, 404: schema.NO_PARENT},
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        draft = _read_draft(request)
        key = check_key(request.headers.get("Idempotency-Key"))
        post_id = create_post(request.account_id, draft, key)
        return json_response(get_published_json(request.account_id, post_id))


class StatusView(Endpoint):
    """One post."""

    scopes = {"GET": "read:statuses", "DELETE": "write:statuses"}
    public = True

    @extend_schema(parameters=CONDITIONAL, responses={200: schema.StatusEntity, 304: NOT_MODIFIED})
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        status = _get_status_json(status_id, request.viewer_id)
        return tagged_response(request, [status], lambda: status)

    @extend_schema(responses={200: schema.DeletedStatusEntity})
    def delete(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Delete your own post. Posts of other accounts answer 404."""
        if status_id.author_id != request.account_id:
            raise PostNotFound
        original = get_any_original(status_id)
        status = get_interaction_json(request.account_id, status_id, original)
        return json_response(with_source(status, delete_post(status_id)))


class ContextView(Endpoint):
    """The conversation around a post: the posts it answers, and its replies."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(responses=schema.ContextEntity)
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        context = load_context(status_id, request.viewer_id)
        body = b'{"ancestors":[%b],"descendants":[%b]}'
        return json_response(body % (b",".join(context[0]), b",".join(context[1])))


def _read_draft(request: ApiRequest) -> Draft:
    """The draft in the request.

    Raises: ParentNotFound if the author may not see the parent; and the errors of check_draft.
    """
    draft = check_draft(request.data)
    parent = check_parent(request.data)
    if parent is None:
        return draft
    try:
        original = get_original(parent, request.account_id)
    except PostNotFound:
        raise ParentNotFound from None
    return msgspec.structs.replace(draft, in_reply_to=original)


def _get_status_json(post_id: PostId, viewer_id: int | None) -> bytes:
    """The Status entity of one post. Raises: PostNotFound."""
    found = load_status_json([post_id], viewer_id)
    if not found:
        raise PostNotFound
    return found[post_id]
