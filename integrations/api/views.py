"""What services read: the change feed, and the relations of any accounts."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest, ScopeMissing
from infra.api.ids import parse_account_id
from infra.api.nested import find_objects
from infra.api.parsing import read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.api import schema
from integrations.api.present import present_page
from integrations.events import describe_relation
from integrations.queries.events import first_position, read_events
from integrations.types import EventPage
from relations.queries.edges import Pair, load_edges
from relations.types import NO_EDGE


class EventsView(Endpoint):
    """What happened on the whole site, from a position on. Only for services."""

    scopes = {"GET": "service:changes"}
    needs_user = False

    @extend_schema(parameters=[schema.AFTER, schema.LIMIT], responses=schema.EventsEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        after = read_text(request.query_params, "after")
        limit = read_limit(
            request.query_params.get("limit"), schema.DEFAULT_LIMIT, schema.MOST_EVENTS
        )
        return json_response(orjson.dumps(present_page(_read_page(after, limit))))


class RelationsView(Endpoint):
    """The relations of up to 1,000 pairs of any accounts, in the order asked. Only for services."""

    scopes = {"POST": "service:relations"}
    needs_user = False
    for_frozen = True

    @extend_schema(request=schema.PairsBody, responses=schema.RelationEntity(many=True))
    def post(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        pairs = _read_pairs(request)
        edges = load_edges(pairs)
        return json_response(
            orjson.dumps([describe_relation(*pair, edges.get(pair, NO_EDGE)) for pair in pairs])
        )


def refuse_accounts(request: ApiRequest) -> None:
    """Only a service's own token may go on. Raises: ScopeMissing."""
    if request.user.account_id is not None:
        raise ScopeMissing


def _read_pairs(request: ApiRequest) -> list[Pair]:
    """Raises: InvalidRequest."""
    sent = find_objects(request.data, "pairs") or ()
    if not 0 < len(sent) <= schema.MOST_PAIRS:
        raise InvalidRequest(f"pairs must be a list of 1 to {schema.MOST_PAIRS:,} pairs")
    return [(_read_id(pair, "account_id"), _read_id(pair, "target_id")) for pair in sent]


def _read_id(pair: Mapping[str, Any], name: str) -> int:
    account_id = parse_account_id(pair.get(name))
    if account_id is None:
        raise InvalidRequest(f"{name} of each pair must be the id of an account, as text")
    return account_id


def _read_page(after: str, limit: int) -> EventPage:
    position = first_position(after or None)
    return read_events(position, limit) if after else EventPage([], position, [], has_more=False)
