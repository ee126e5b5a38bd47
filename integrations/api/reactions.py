"""Endpoints of services that declare reactions to posts."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.parsing import find_flag
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.clock import now_ms
from integrations.api import schema
from integrations.api.views import refuse_accounts
from integrations.api.words import read_words
from posts.actions.declare_reaction import declare_reaction
from posts.api.schema import DeclaredReactionEntity
from posts.queries.reactions import FAVOURITE, REACTION_NAME, list_reactions, present_reaction


class ReactionsView(Endpoint):
    """The reactions that services declared, in their order. Only for services."""

    scopes = {"GET": "service:write"}
    needs_user = False

    @extend_schema(responses=DeclaredReactionEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        reactions = list_reactions()
        return json_response(orjson.dumps([present_reaction(each) for each in reactions]))


class ReactionView(Endpoint):
    """A reaction to posts. Only for services."""

    scopes = {"PUT": "service:write"}
    needs_user = False

    @extend_schema(
        parameters=[schema.REACTION_NAME],
        request=schema.NewReactionBody,
        responses=DeclaredReactionEntity,
    )
    def put(self, request: ApiRequest, reaction_name: str) -> HttpResponse:
        """Declare it, or change its words. It may be repeated. At most 16, which stay."""
        refuse_accounts(request)
        name, words = _check_name(reaction_name), read_words(request.data)
        sent = find_flag(request.data, "notifies")
        notifies = True if sent is None else sent
        declare_reaction(name, words, now_ms(), notifies)
        return json_response(orjson.dumps({"name": name, "words": words, "notifies": notifies}))


def _check_name(name: str) -> str:
    """Raises: InvalidRequest."""
    if name == FAVOURITE:
        raise InvalidRequest("favourite is built in")
    if not REACTION_NAME.fullmatch(name):
        raise InvalidRequest("name must be like cooked_it: a-z, 0-9 and _, at most 32")
    return name
