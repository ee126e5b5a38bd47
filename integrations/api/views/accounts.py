"""Accounts by the ids that the product of the operator has for its people, for services."""

from datetime import UTC, datetime

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries.bound_accounts import (
    find_bound_account,
    load_by_external_id,
    load_external_ids,
)
from accounts.identities.types import ExternalId
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.ids import parse_account_ids
from infra.api.nested import find_texts
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.actions.delete_account import delete_account
from integrations.actions.provision import provision
from integrations.api import schema
from integrations.api.present import present_bound_account, present_provisioned
from integrations.api.provisioning import (
    check_external_id,
    provision_each,
    read_wanted,
    read_wanted_list,
)
from integrations.api.services import refuse_accounts


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
        identity = ExternalId(request.user.tenant, check_external_id(external_id))
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
        identity = ExternalId(request.user.tenant, check_external_id(external_id))
        made = provision(identity, read_wanted(request.data), datetime.now(UTC))
        return json_response(orjson.dumps(present_provisioned(made)))

    @extend_schema(
        parameters=[schema.EXTERNAL_ID],
        responses={200: schema.BoundAccountEntity},
    )
    def delete(self, request: ApiRequest, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = ExternalId(request.user.tenant, check_external_id(external_id))
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
        outcomes = provision_each(request.user.tenant, read_wanted_list(request.data))
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
        tenant = request.user.tenant
        if ids:
            by_id = load_by_external_id(tenant, ids)
            accounts = [by_id[i] for i in dict.fromkeys(ids) if i in by_id]
        else:
            wanted = parse_account_ids(account_ids)
            by_account = load_external_ids(tenant, wanted)
            accounts = [by_account[i] for i in wanted if i in by_account]
        return json_response(orjson.dumps([*map(present_bound_account, accounts)]))
