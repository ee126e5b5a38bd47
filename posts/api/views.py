"""Publish, read and delete single posts."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_draft import check_draft, check_key
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.api import schema
from posts.api.present import with_source
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.hydrate import load_status_json


class StatusesView(Endpoint):
    """Publish a post. The same Idempotency-Key again returns the first one."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(
        parameters=[schema.IDEMPOTENCY_KEY], request=schema.NewStatus, responses=schema.Status
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        draft = check_draft(request.data)
        key = check_key(request.headers.get("Idempotency-Key"))
        post_id = create_post(request.account_id, draft, key)
        return json_response(get_status_json(post_id))


class StatusView(Endpoint):
    """One post."""

    scopes = {"GET": "read:statuses", "DELETE": "write:statuses"}
    public = True

    @extend_schema(responses=schema.Status)
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return json_response(get_status_json(status_id))

    @extend_schema(responses=schema.DeletedStatus)
    def delete(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Somebody else's post is as unknown as one that never was."""
        if status_id.author_id != request.account_id:
            raise PostNotFound
        status = get_status_json(status_id)
        return json_response(with_source(status, delete_post(status_id)))


def get_status_json(post_id: PostId) -> bytes:
    """Raises PostNotFound."""
    found = load_status_json([post_id])
    if not found:
        raise PostNotFound
    return found[post_id]
