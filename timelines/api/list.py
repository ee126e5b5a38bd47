"""Endpoint of the timeline of an account list."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.pages import tagged_page_response
from infra.api.request import ApiRequest
from posts.api.schema import HomeStatusEntity
from relations.lists.api.parse import read_list_id
from timelines.api.views import PAGING, read_timeline_window
from timelines.feeds.list import account_list_page


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
