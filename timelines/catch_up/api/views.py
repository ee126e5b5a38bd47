"""Endpoint of catch-up: read it in pages, and say that it was read."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from timelines.catch_up.api import schema
from timelines.catch_up.api.parse import read_bound, read_request
from timelines.catch_up.api.present import present_page
from timelines.catch_up.pages import catch_up_page
from timelines.catch_up.types import CatchUpPage
from timelines.markers.actions.move_markers import advance_home_marker
from timelines.markers.api.views import present_markers
from timelines.markers.types import Timeline

CURSORS = ("bound", "after_id")


class CatchUpView(Endpoint):
    """What arrived in my home timeline since my marker, by account, up to a fixed bound."""

    scopes = {"GET": "read:statuses", "POST": "write:statuses"}

    @extend_schema(parameters=schema.PARAMETERS, responses=schema.CatchUpEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        page = catch_up_page(read_request(request.account_id, request.query_params))
        link = _next_link(request, page)
        return json_response(present_page(page), headers={"Link": link} if link else None)

    @extend_schema(
        request={"application/json": schema.CatchUpEndBody}, responses=schema.CaughtUpEntity
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Moves the home marker to the bound, unless it is further already. Returns the marker."""
        bound, now = read_bound(request.data), datetime.now(UTC)
        until = bound.until.base36
        marker = advance_home_marker(request.account_id, until, bound.seen_ms, now)
        return present_markers({Timeline.HOME: marker})


def _next_link(request: ApiRequest, page: CatchUpPage) -> str | None:
    if page.after is None:
        return None
    sent = request.query_params.lists()
    query = [(name, v) for name, vs in sent if name not in CURSORS for v in vs]
    query += zip(CURSORS, (page.whole.bound.text, page.after.public), strict=True)
    return f'<{settings.PUBLIC_URL}{request.path}?{urlencode(query)}>; rel="next"'
