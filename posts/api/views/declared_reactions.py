"""The reactions that clients can offer under a post."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api import schema
from posts.queries.reactions import known_reactions, present_reaction


class DeclaredReactionsView(Endpoint):
    """Reactions that posts can have besides the favourite, in their order."""

    public = True

    @extend_schema(responses=schema.DeclaredReactionEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        """At most 30 seconds old. Empty: services declared none."""
        reactions = known_reactions.list_all()
        return json_response(orjson.dumps([present_reaction(each) for each in reactions]))
