"""Endorse an account, and stop that."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.request import ApiRequest
from relations.actions.endorse import endorse, stop_endorsing
from relations.api import schema
from relations.api.views.relationships import answer_relationship


class EndorseView(Endpoint):
    """Show an account that I follow on my profile, until I unfollow it."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        endorse(request.account_id, account_id)
        return answer_relationship(request, account_id)


class UnendorseView(Endpoint):
    """Stop showing an account on my profile."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        stop_endorsing(request.account_id, account_id)
        return answer_relationship(request, account_id)
