"""Endpoints of the public timeline, and of the timeline of an account list."""

from collections.abc import Mapping

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.quotas import client_network
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.fields import flag_parameter
from infra.api.pages import tagged_page_response
from infra.api.parsing import read_flag
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import HomeStatusEntity, StatusEntity
from relations.lists.api.parse import read_list_id
from timelines.api.views import PAGING, read_timeline_window
from timelines.feeds.list import account_list_page
from timelines.feeds.public import public_page

CHOICES = [
    flag_parameter("local", "Posts of this server: all are"),
    flag_parameter("remote", "Posts of other servers: none"),
    flag_parameter("only_media", "Only posts with images"),
]


class ListTimelineView(Endpoint):
    """Posts of the members of one of my lists, newest first."""

    scopes = {"GET": "read:lists"}

    @extend_schema(
        parameters=[*PAGING, *CONDITIONAL],
        responses={200: HomeStatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest, list_id: str) -> HttpResponse:
        window = read_timeline_window(request.query_params)
        page = account_list_page(
            request.account_id, read_list_id(list_id), window, client=str(request.user.token_id)
        )
        return tagged_page_response(request, page)


class PublicView(Endpoint):
    """The newest posts of all accounts, without reposts and replies to others."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(
        parameters=[*PAGING, *CHOICES, *CONDITIONAL],
        responses={200: StatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        window = read_timeline_window(query)
        if _wants_none(query):
            return json_response(b"[]")
        client, only_media = name_client(request), read_flag(query, "only_media")
        page = public_page(request.viewer_id, window, client=client, only_media=only_media)
        return tagged_page_response(request, page)


def _wants_none(query: Mapping[str, str]) -> bool:
    """As Mastodon, `local` and `remote` together mean neither."""
    local, remote = read_flag(query, "local"), read_flag(query, "remote")
    return remote and not local


def name_client(request: ApiRequest) -> str:
    """The token, or the network of a client without one."""
    if request.user is None:
        return client_network(request._request)
    return str(request.user.token_id)
