"""Endpoints that read a post's versions, its text as the author typed it, and translations."""

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.quotas import TRANSLATIONS
from infra.api.endpoint import Endpoint
from infra.api.openapi import error_response
from infra.api.parsing import read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api import schema
from posts.ids import PostId
from posts.queries.history import get_typed_text, load_versions
from posts.translation.errors import TranslatorAway
from posts.translation.service import get_languages, is_configured
from posts.translation.translate_post import get_translation

UNDETERMINED = "und"


class TranslateView(Endpoint):
    """A post in another language, translated by a machine."""

    scopes = {"POST": "read:statuses"}
    for_frozen = True

    @extend_schema(
        request=schema.TranslateBody,
        responses={200: schema.TranslationEntity, 503: error_response(TranslatorAway.text)},
    )
    def post(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Of a public or unlisted post, or of what a repost shows. Without `lang` into the language
        of the site. 404 if this site translates nothing: `configuration.translation.enabled`."""
        language = read_text(request.data, "lang") or settings.SITE_LANGUAGE
        account_id = request.account_id
        entity = get_translation(
            status_id, account_id, language, lambda: TRANSLATIONS.charge(account_id)
        )
        return json_response(orjson.dumps(entity))


class TranslationLanguagesView(Endpoint):
    """From which languages this site translates posts, and into which ones."""

    public = True

    @extend_schema(responses={200: schema.TRANSLATED_LANGUAGES})
    def get(self, request: ApiRequest) -> HttpResponse:
        """`und`: of posts that do not say their language. Empty if this site translates nothing."""
        if not is_configured():
            return json_response(b"{}")
        languages = get_languages()
        every = sorted({target for targets in languages.values() for target in targets})
        return json_response(orjson.dumps({**languages, UNDETERMINED: every}))


class HistoryView(Endpoint):
    """All versions of a post, the first one first."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(responses=schema.VersionEntity(many=True))
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return json_response(b"[%b]" % b",".join(load_versions(status_id, request.viewer_id)))


class SourceView(Endpoint):
    """A post as its author typed it, to edit it."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(responses=schema.TypedTextEntity)
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        typed = get_typed_text(status_id, request.account_id)
        return json_response(orjson.dumps({"id": status_id.public} | typed._asdict()))
