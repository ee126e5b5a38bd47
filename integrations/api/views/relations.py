"""Relations of any accounts, for services."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.ids import parse_account_id
from infra.api.nested import find_objects
from infra.api.pages import object_page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.api import schema
from integrations.api.services import refuse_accounts
from integrations.events import describe_relation
from relations.queries.edge_lists import CURSOR_DIGITS, cut_page
from relations.queries.edges import Pair, load_edges
from relations.queries.mutuals import read_mutuals, reads_within
from relations.types import NO_EDGE


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


class MutualsView(Endpoint):
    """The accounts that follow an account and that it follows: how many, and since when.

    The newest come first, quiet follows included. Only for services.
    """

    scopes = {"GET": "service:relations"}
    needs_user = False

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=schema.MutualsEntity)
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        refuse_accounts(request)
        query = request.query_params
        limit = read_limit(query.get("limit"), schema.DEFAULT_LIMIT, schema.MOST_MUTUALS)
        window = read_window(query, limit, sum(CURSOR_DIGITS))
        require_account(account_id)
        mutuals = read_mutuals(account_id)
        page = cut_page(window, reads_within(mutuals))
        shown = [{"account_id": str(i), "since_ms": since_ms} for since_ms, i in page.items]
        body = orjson.dumps({"count": len(mutuals), "mutuals": shown})
        return object_page_response(request, page, body)


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
