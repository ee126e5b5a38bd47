"""Scheduled posts over HTTP. Callers see and change only their own."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.clock import now_ms
from posts.scheduled.actions.schedule import cancel_scheduled, move_scheduled
from posts.scheduled.api import schema
from posts.scheduled.api.parse import read_due, read_scheduled_id
from posts.scheduled.api.present import present_scheduled
from posts.scheduled.queries.scheduled import get_scheduled, list_scheduled
from posts.scheduled.types import ScheduledPostRow

DEFAULT_LIMIT, MOST = 20, 40


class ScheduledStatusesView(Endpoint):
    """My posts that are to be published later, the latest request first."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(parameters=paging(0), responses=schema.ScheduledStatusEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        window = read_window(request.query_params, limit, 0)
        page = list_scheduled(request.account_id, window)
        items = present_scheduled(request.account_id, page.items)
        return page_response(request, Page(items, page.older, page.newer))


class ScheduledStatusView(Endpoint):
    """One of my scheduled posts. When it is published it is not here any more."""

    scopes = {"GET": "read:statuses", "PUT": "write:statuses", "DELETE": "write:statuses"}

    @extend_schema(responses=schema.ScheduledStatusEntity)
    def get(self, request: ApiRequest, scheduled_id: str) -> HttpResponse:
        scheduled = get_scheduled(request.account_id, read_scheduled_id(scheduled_id))
        return answer_scheduled(request.account_id, scheduled)

    @extend_schema(request=schema.ScheduleBody, responses=schema.ScheduledStatusEntity)
    def put(self, request: ApiRequest, scheduled_id: str) -> HttpResponse:
        """Change when it is published. One that could not be published is tried again then."""
        number, due_ms = read_scheduled_id(scheduled_id), read_due(request.data)
        scheduled = move_scheduled(request.account_id, number, due_ms, now_ms())
        return answer_scheduled(request.account_id, scheduled)

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, scheduled_id: str) -> HttpResponse:
        """Cancel it. Its images can be used again for a day."""
        cancel_scheduled(request.account_id, read_scheduled_id(scheduled_id))
        return json_response(b"{}")


def answer_scheduled(author_id: int, scheduled: ScheduledPostRow) -> HttpResponse:
    return json_response(present_scheduled(author_id, [scheduled])[0])
