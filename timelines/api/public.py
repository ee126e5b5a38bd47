"""Endpoint of the public timeline."""

from collections.abc import Mapping

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.api.quotas import client_network
from infra.api.endpoint import Endpoint
from infra.api.pages import PAGING, page_response, read_window
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import StatusEntity
from timelines.queries.public import public_page

DEFAULT_LIMIT, MOST = 20, 40
CHOICES = [
    OpenApiParameter("local", OpenApiTypes.BOOL, description="Posts of this server: all are"),
    OpenApiParameter("remote", OpenApiTypes.BOOL, description="Posts of other servers: none"),
    OpenApiParameter("only_media", OpenApiTypes.BOOL, description="Posts with media: none"),
]


class PublicView(Endpoint):
    """The newest few hundred posts of all accounts, without reposts and replies to others."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(parameters=[*PAGING, *CHOICES], responses=StatusEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        limit = read_limit(query.get("limit"), DEFAULT_LIMIT, MOST)
        if _wants_none(query):
            return json_response(b"[]")
        window, client = read_window(query, limit), name_client(request)
        return page_response(request, public_page(request.viewer_id, window, client=client))


def _wants_none(query: Mapping[str, str]) -> bool:
    """As Mastodon, `local` and `remote` together mean neither."""
    local, remote, media = (
        read_flag(query.get(name), False) for name in ("local", "remote", "only_media")
    )
    return media or (remote and not local)


def name_client(request: ApiRequest) -> str:
    """The token, or the network of a client without one."""
    if request.user is None:
        return client_network(request._request)
    return str(request.user.token_id)
