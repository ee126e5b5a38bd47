"""The change feed for services."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.parsing import read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.api import schema
from integrations.api.present import present_page
from integrations.api.services import refuse_accounts
from integrations.queries.events import first_position, read_long_page
from integrations.types import EventPage


class EventsView(Endpoint):
    """What happened on the whole site, from a position on. Only for services."""

    scopes = {"GET": "service:changes"}
    needs_user = False

    @extend_schema(parameters=[schema.AFTER, schema.LIMIT], responses=schema.EventsEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        after = read_text(request.query_params, "after")
        is_bulk = request.user is not None and request.user.is_bulk
        most = schema.MOST_BULK_EVENTS if is_bulk else schema.MOST_EVENTS
        limit = read_limit(request.query_params.get("limit"), schema.DEFAULT_LIMIT, most)
        return json_response(orjson.dumps(present_page(_read_page(after, limit))))


def _read_page(after: str, limit: int) -> EventPage:
    position = first_position(after or None)
    return read_long_page(position, limit) if after else EventPage([], position, [], has_more=False)
