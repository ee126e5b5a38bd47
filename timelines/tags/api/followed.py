"""Endpoints of followed tags together: their timeline, and whether home shows their posts."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.texts.links import normalize_tag
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.errors import InvalidRequest
from infra.api.fields import flag_parameter
from infra.api.pages import Page, tagged_page_response
from infra.api.parsing import find_flag, read_flag
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import StatusEntity
from timelines.api.views import PAGING, read_timeline_window
from timelines.tags.actions.own_tags import choose_at_home
from timelines.tags.api import schema
from timelines.tags.feed import tag_page
from timelines.tags.queries.own_tags import are_tags_at_home, list_own_tags
from timelines.tags.types import TagListKind, TagQuery

ONLY_MEDIA = flag_parameter("only_media", "Only posts with images")


class FollowedTagsTimelineView(Endpoint):
    """Public posts with any of the tags that I follow, newest first, replies too."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(
        parameters=[*PAGING, ONLY_MEDIA, *CONDITIONAL],
        responses={200: StatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        window = read_timeline_window(request.query_params)
        only_media = read_flag(request.query_params, "only_media")
        followed = _list_followed(request)
        if not followed:
            return tagged_page_response(request, Page([], None, None))
        query = TagQuery(request.account_id, followed, only_media=only_media)
        return tagged_page_response(request, tag_page(query, window, str(request.user.token_id)))


class FollowedTagsSettingsView(Endpoint):
    """Whether my home timeline shows posts with the tags that I follow."""

    scopes = {"GET": "read:follows", "PUT": "write:follows"}

    @extend_schema(responses=schema.FollowedTagsSettingsEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(are_tags_at_home(request.account_id))

    @extend_schema(request=schema.TagsAtHomeBody, responses=schema.FollowedTagsSettingsEntity)
    def put(self, request: ApiRequest) -> HttpResponse:
        """Choose it. In the beginning home does not show them."""
        is_at_home = find_flag(request.data, "home")
        if is_at_home is None:
            raise InvalidRequest("home is missing")
        choose_at_home(request.account_id, is_at_home)
        return _answer(is_at_home)


def _list_followed(request: ApiRequest) -> list[str]:
    """The followed tags, normalized. One query by key."""
    tags = list_own_tags(request.account_id, TagListKind.FOLLOWED)
    return list(dict.fromkeys(normalize_tag(tag.name) for tag in tags))


def _answer(is_at_home: bool) -> HttpResponse:
    return json_response(orjson.dumps({"home": is_at_home}))
