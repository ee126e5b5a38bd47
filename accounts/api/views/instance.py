"""A description of this site: the first request of most clients."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api import schema
from accounts.api.instance import (
    list_languages,
    present_instance,
    present_instance_v2,
    present_long_text,
    present_rules,
)
from accounts.errors import AccountNotFound
from accounts.queries.load import get_account_json
from accounts.queries.site_counts import get_site_counts
from accounts.site_texts.queries import get_site_description
from infra.api.endpoint import Endpoint
from infra.api.errors import NotFound
from infra.api.openapi import error_response
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.sharding.errors import NO_ANSWER


class InstanceView(Endpoint):
    """This site, for older clients."""

    public = True

    @extend_schema(responses=schema.InstanceEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        texts = get_site_description()
        entity = present_instance(get_site_counts(), texts, _find_contact(texts.contact_id))
        return json_response(orjson.dumps(entity))


class InstanceV2View(Endpoint):
    """This site."""

    public = True

    @extend_schema(operation_id="instance_v2_retrieve", responses=schema.InstanceV2Entity)
    def get(self, request: ApiRequest) -> HttpResponse:
        texts = get_site_description()
        entity = present_instance_v2(get_site_counts(), texts, _find_contact(texts.contact_id))
        return json_response(orjson.dumps(entity))


class LanguagesView(Endpoint):
    """Languages that a client can offer for a post."""

    public = True

    @extend_schema(responses=schema.LanguageEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(orjson.dumps(list_languages()))


class ExtendedDescriptionView(Endpoint):
    """A long description of this site, as HTML. Empty: the operators wrote none."""

    public = True

    @extend_schema(responses=schema.ExtendedDescriptionEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        about = get_site_description().about
        return json_response(orjson.dumps(present_long_text(about)))


class PrivacyPolicyView(Endpoint):
    """The privacy policy, as HTML. 404: the operators wrote none."""

    public = True

    @extend_schema(
        responses={
            200: schema.ExtendedDescriptionEntity,
            404: error_response("The operators wrote no privacy policy"),
        }
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        """Raises: NotFound."""
        privacy = get_site_description().privacy
        if not privacy.html:
            raise NotFound
        return json_response(orjson.dumps(present_long_text(privacy)))


class RulesView(Endpoint):
    """The rules of this site, which people accept when they sign up."""

    public = True

    @extend_schema(responses=schema.RuleEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(orjson.dumps(present_rules(get_site_description())))


def _find_contact(account_id: int | None) -> orjson.Fragment | None:
    """The account to write to. None: there is none, it is not shown, or its shard does not answer,
    which must not keep clients from this site. Cost: one round trip if Redis has it."""
    if account_id is None:
        return None
    try:
        return orjson.Fragment(get_account_json(account_id))
    except (AccountNotFound, *NO_ANSWER):
        return None
