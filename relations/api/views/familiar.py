"""Familiar followers: accounts I follow that also follow another account."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import find_existing, load_account_json
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.api.present import present_familiar
from relations.api.schema import FAMILIAR_IDS, MOST_FAMILIAR_TARGETS, FamiliarFollowersEntity
from relations.api.views.relationships import read_targets
from relations.queries.familiar import load_familiar_followers


class FamiliarFollowersView(Endpoint):
    """By account: the accounts I follow that also follow it. In the order asked, each once."""

    scopes = {"GET": "read:follows"}

    @extend_schema(parameters=[FAMILIAR_IDS], responses=FamiliarFollowersEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        texts = query.getlist("id[]") or query.getlist("id")
        if len(texts) > MOST_FAMILIAR_TARGETS:
            raise InvalidRequest(f"At most {MOST_FAMILIAR_TARGETS} accounts at once")
        asked = read_targets(texts)
        known = find_existing(asked)
        found = load_familiar_followers(request.account_id, [i for i in asked if i in known])
        accounts = load_account_json(fan for fans in found.values() for fan in fans)
        bodies = [
            present_familiar(target, [accounts[fan] for fan in fans if fan in accounts])
            for target, fans in found.items()
        ]
        return json_response(b"[%b]" % b",".join(bodies))
