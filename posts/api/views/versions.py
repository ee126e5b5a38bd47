"""Endpoints that read the versions of a post, and its text as the author typed it."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api import schema
from posts.ids import PostId
from posts.queries.history import get_typed_text, load_versions


class HistoryView(Endpoint):
    """All versions of a post, the first one first."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(responses=schema.VersionEntity(many=True))
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return json_response(b"[%b]" % b",".join(load_versions(status_id, request.viewer_id)))


class SourceView(Endpoint):
    """A post as its author typed it, to edit it."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(responses=schema.TypedTextEntity)
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        typed = get_typed_text(status_id, request.account_id)
        return json_response(orjson.dumps({"id": status_id.public} | typed._asdict()))
