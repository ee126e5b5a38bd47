"""Endpoints of services.

Accounts by the ids that the product of the operator has for its people, for services.

The change feed for services.

Relations of any accounts, for services.

What endpoints of services share.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries import (
    find_bound_account,
    load_by_external_id,
    load_external_ids,
)
from accounts.identities.types import ExternalId
from accounts.queries.load import require_account
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest, NotAllowed
from infra.api.ids import parse_account_id, parse_account_ids
from infra.api.nested import find_objects, find_texts
from infra.api.pages import object_page_response, paging, read_window
from infra.api.parsing import read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.actions import delete_account, provision
from integrations.api import schema
from integrations.api.present import present_bound_account, present_page, present_provisioned
from integrations.api.provisioning import (
    check_external_id,
    provision_each,
    read_wanted,
    read_wanted_list,
)
from integrations.events import describe_relation
from integrations.queries.events import first_position, read_long_page
from integrations.types import EventPage
from relations.queries.edge_lists import CURSOR_DIGITS, cut_page
from relations.queries.edges import Pair, load_edges
from relations.queries.mutuals import read_mutuals, reads_within
from relations.types import NO_EDGE


def refuse_accounts(request: ApiRequest) -> None:
    """Only a service's own token may go on, for no account. Raises: NotAllowed."""
    if request.user.account_id is not None:
        raise NotAllowed("Only a service may do this, with its own token and for no account")


class ServiceAccountView(Endpoint):
    """The account of an external id. PUT creates it or changes its profile, and may be repeated.

    Fields that are not sent stay as they are. With another username the account is renamed: the one
    before stays its own and leads to it. `active`: false, alone, suspends the account without an
    end and keeps its data, and true brings it back. DELETE begins what a person's own deletion
    begins. All may be repeated. Only for services.
    """

    scopes = {
        "GET": "service:accounts",
        "PUT": "service:accounts",
        "DELETE": "service:accounts",
    }
    needs_user = False

    @extend_schema(parameters=[schema.EXTERNAL_ID], responses=schema.BoundAccountEntity)
    def get(self, request: ApiRequest, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = ExternalId(check_external_id(external_id))
        account = find_bound_account(identity)
        if account is None:
            raise IdentityUnknown
        return json_response(orjson.dumps(present_bound_account(account)))

    @extend_schema(
        parameters=[schema.EXTERNAL_ID],
        request=schema.WantedAccountBody,
        responses=schema.ProvisionedAccountEntity,
    )
    def put(self, request: ApiRequest, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = ExternalId(check_external_id(external_id))
        made = provision(identity, read_wanted(request.data), datetime.now(UTC))
        return json_response(orjson.dumps(present_provisioned(made)))

    @extend_schema(
        parameters=[schema.EXTERNAL_ID],
        responses={200: schema.BoundAccountEntity},
    )
    def delete(self, request: ApiRequest, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = ExternalId(check_external_id(external_id))
        deleted = delete_account(identity, datetime.now(UTC))
        return json_response(orjson.dumps(present_bound_account(deleted)))


class ServiceAccountsView(Endpoint):
    """Up to 100 accounts at once, each as by a PUT of its own. One answer each, in the order sent.

    `status` of an answer is the one that its own PUT would have. Only for services.
    """

    scopes = {"PUT": "service:accounts"}
    needs_user = False
    operation_suffix = "_many"

    @extend_schema(
        request=schema.WantedAccountsBody, responses=schema.ProvisioningOutcomeEntity(many=True)
    )
    def put(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        outcomes = provision_each(read_wanted_list(request.data))
        return json_response(orjson.dumps(list(outcomes)))


class ExternalIdsView(Endpoint):
    """The accounts of up to 1,000 external ids, or the external ids of up to 1,000 accounts.

    In the order asked; those without are left out. Only for services.
    """

    scopes = {"POST": "service:accounts"}
    needs_user = False
    for_frozen = True

    @extend_schema(request=schema.ExternalIdsBody, responses=schema.BoundAccountEntity(many=True))
    def post(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        ids = find_texts(request.data, "external_ids") or ()
        account_ids = find_texts(request.data, "account_ids") or ()
        if bool(ids) == bool(account_ids) or len(ids) + len(account_ids) > schema.MOST_IDS:
            raise InvalidRequest(
                f"external_ids or account_ids must be a list of 1 to {schema.MOST_IDS:,} ids"
            )
        if ids:
            by_id = load_by_external_id(ids)
            accounts = [by_id[i] for i in dict.fromkeys(ids) if i in by_id]
        else:
            wanted = parse_account_ids(account_ids)
            by_account = load_external_ids(wanted)
            accounts = [by_account[i] for i in wanted if i in by_account]
        return json_response(orjson.dumps([*map(present_bound_account, accounts)]))


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
