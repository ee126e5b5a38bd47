"""Endpoints of services that declare types of posts."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.api import schema
from integrations.api.views import refuse_accounts
from integrations.api.words import read_words
from posts.actions.declare_type import declare_type, remove_type
from posts.queries.post_types import TYPE_NAME, list_types


class PostTypesView(Endpoint):
    """The types of posts that services declared, by name. Only for services."""

    scopes = {"GET": "service:write"}
    needs_user = False

    @extend_schema(responses=schema.PostTypeEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        types = list_types()
        return json_response(orjson.dumps([declared._asdict() for declared in types]))


class PostTypeView(Endpoint):
    """A type of posts. Only for services."""

    scopes = {"PUT": "service:write", "DELETE": "service:write"}
    needs_user = False

    @extend_schema(
        parameters=[schema.TYPE_NAME],
        request=schema.WordsBody,
        responses=schema.PostTypeEntity,
    )
    def put(self, request: ApiRequest, type_name: str) -> HttpResponse:
        """Declare it, or change its words. It may be repeated. At most 50 types."""
        refuse_accounts(request)
        name, words = _check_name(type_name), read_words(request.data)
        declare_type(name, words)
        return json_response(orjson.dumps({"name": name, "words": words}))

    @extend_schema(parameters=[schema.TYPE_NAME], responses={200: None})
    def delete(self, request: ApiRequest, type_name: str) -> HttpResponse:
        """Remove it: new posts cannot have it; others keep it. It may be repeated."""
        refuse_accounts(request)
        remove_type(_check_name(type_name))
        return json_response(b"{}")


def _check_name(name: str) -> str:
    """Raises: InvalidRequest."""
    if not TYPE_NAME.fullmatch(name):
        raise InvalidRequest("name must be like recipe.cooked: a-z, 0-9, _ and a dot, at most 64")
    return name
