"""What lies between me and others."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import find_existing
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.ids import parse_account_id
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.api import schema
from relations.api.present import present_relationship, present_relationships
from relations.queries.relationships import load_relationships

MOST_TARGETS = 100


class RelationshipsView(Endpoint):
    """What lies between me and up to 100 accounts, in the order asked, each once.

    Ids that name no account are left out.
    """

    scopes = {"GET": "read:follows"}

    @extend_schema(parameters=[schema.ID_LIST], responses=schema.Relationship(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        texts = request.query_params.getlist("id[]") or request.query_params.getlist("id")
        if len(texts) > MOST_TARGETS:
            raise InvalidRequest(f"At most {MOST_TARGETS} accounts at once")
        asked = map(parse_account_id, texts)
        others = list(dict.fromkeys(account_id for account_id in asked if account_id))
        known = find_existing(others)
        wanted = [other for other in others if other in known]
        found = load_relationships(request.account_id, wanted)
        return json_response(present_relationships(found))


def answer_relationship(request: ApiRequest, account_id: int) -> HttpResponse:
    (relationship,) = load_relationships(request.account_id, [account_id])
    return json_response(present_relationship(relationship))
