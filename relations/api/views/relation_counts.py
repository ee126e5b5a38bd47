"""How long the caller's own edge lists are, the secret ones included."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.api.schema import RelationCountsEntity

KINDS = {
    "followers_count": CounterKind.FOLLOWERS,
    "quiet_followers_count": CounterKind.QUIET_FOLLOWERS,
    "following_count": CounterKind.FOLLOWING,
    "quiet_following_count": CounterKind.QUIET_FOLLOWING,
    "blocked_count": CounterKind.BLOCKED,
}


class RelationCountsView(Endpoint):
    """How many accounts are on each of my lists: followers, follows, quiet ones, and blocks.

    All counts are of one moment.
    """

    scopes = {"GET": "read:follows"}

    @extend_schema(responses=RelationCountsEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        counts = load_counts([request.account_id], [*KINDS.values()])[request.account_id]
        body: dict[str, int | None] = {name: counts[kind].value for name, kind in KINDS.items()}
        if "read:blocks" not in request.user.scopes:
            body["blocked_count"] = None
        return json_response(orjson.dumps(body))
