"""Endpoints of tag timelines, and of followed and featured tags."""

from collections.abc import Collection

import orjson
from django.http import HttpResponse, QueryDict
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account
from accounts.texts.links import find_links, normalize_tag, without_tag_sign
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.errors import InvalidRequest
from infra.api.pages import Page, Window, page_response, paging, read_window, tagged_page_response
from infra.api.parsing import read_flag, read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from posts.api.schema import StatusEntity
from timelines.api.public import CHOICES, name_client
from timelines.api.views import PAGING, read_timeline_window
from timelines.tags.actions.own_tags import MOST_FEATURED, add_own_tag, remove_own_tag
from timelines.tags.api import schema
from timelines.tags.api.present import present_featured, present_tags
from timelines.tags.errors import TagNotFound
from timelines.tags.feed import tag_page
from timelines.tags.models import LONGEST_NAME
from timelines.tags.queries.own_tags import list_own_tags, page_of_own_tags
from timelines.tags.queries.tag_usage import list_most_used
from timelines.tags.types import OwnTag, TagListKind, TagQuery, tag_id_of

DEFAULT_LIMIT, MOST = 100, 200


class TagTimelineView(Endpoint):
    """Public posts with a tag, newest first, replies too."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(
        parameters=[*PAGING, *CHOICES, *schema.OTHER_TAGS, *CONDITIONAL],
        responses={200: StatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest, name: str) -> HttpResponse:
        query = request.query_params
        window = read_timeline_window(query)
        wanted = TagQuery(
            request.viewer_id,
            list(dict.fromkeys([normalize_tag(name), *_read_names(query, "any[]")])),
            _read_names(query, "all[]"),
            _read_names(query, "none[]"),
            read_flag(query, "only_media"),
        )
        local, remote = read_flag(query, "local"), read_flag(query, "remote")
        if remote and not local:
            return json_response(b"[]")
        return tagged_page_response(request, tag_page(wanted, window, name_client(request)))


class TagView(Endpoint):
    """A tag, and how it was used in the last days. A tag that no post has is one too."""

    scopes = {"GET": "read"}
    public = True

    @extend_schema(responses=schema.TagEntity)
    def get(self, request: ApiRequest, name: str) -> HttpResponse:
        return _answer_tag(name, request.viewer_id)


class FollowTagView(Endpoint):
    """Follow a tag. Its posts are on the timeline of followed tags, and perhaps at home."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.TagEntity)
    def post(self, request: ApiRequest, name: str) -> HttpResponse:
        add_own_tag(request.account_id, TagListKind.FOLLOWED, name)
        return _answer_tag(name, request.account_id)


class UnfollowTagView(Endpoint):
    """Take a tag off the list of followed tags."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.TagEntity)
    def post(self, request: ApiRequest, name: str) -> HttpResponse:
        remove_own_tag(request.account_id, TagListKind.FOLLOWED, _id_of(name))
        return _answer_tag(name, request.account_id)


class FeatureTagView(Endpoint):
    """Show a tag on my profile."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.TagEntity)
    def post(self, request: ApiRequest, name: str) -> HttpResponse:
        add_own_tag(request.account_id, TagListKind.FEATURED, name)
        return _answer_tag(name, request.account_id)


class UnfeatureTagView(Endpoint):
    """Take a tag off my profile."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.TagEntity)
    def post(self, request: ApiRequest, name: str) -> HttpResponse:
        remove_own_tag(request.account_id, TagListKind.FEATURED, _id_of(name))
        return _answer_tag(name, request.account_id)


class FollowedTagsView(Endpoint):
    """The tags that I follow, the latest follow first."""

    scopes = {"GET": "read:follows"}

    @extend_schema(parameters=paging(0), responses=schema.TagEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        page = page_of_own_tags(request.account_id, TagListKind.FOLLOWED, _read_window(request))
        tags = present_tags([tag.name for tag in page.items], request.account_id)
        return page_response(request, Page(list(map(orjson.dumps, tags)), page.older, page.newer))


class FeaturedTagsView(Endpoint):
    """The tags that I show on my profile, the latest first."""

    scopes = {"GET": "read:accounts", "POST": "write:accounts"}

    @extend_schema(responses=schema.FeaturedTagEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer_featured(request.account_id)

    @extend_schema(request=schema.NewFeaturedTagBody, responses=schema.FeaturedTagEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Show a tag on my profile."""
        name = _read_tag(read_text(request.data, "name"))
        tag = add_own_tag(request.account_id, TagListKind.FEATURED, name)
        featured = beginning_again(present_featured)(request.account_id, [tag])
        return json_response(featured[1:-1])


class FeaturedTagView(Endpoint):
    """A tag that I show on my profile."""

    scopes = {"DELETE": "write:accounts"}

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, tag_id: int) -> HttpResponse:
        """Show the tag no more."""
        own = {tag.tag_id for tag in list_own_tags(request.account_id, TagListKind.FEATURED)}
        if tag_id not in own:
            raise TagNotFound
        remove_own_tag(request.account_id, TagListKind.FEATURED, tag_id)
        return json_response(b"{}")


class SuggestedTagsView(Endpoint):
    """The tags that I used most lately and do not show on my profile."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(responses=schema.TagEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        own = list_own_tags(request.account_id, TagListKind.FEATURED)
        shown = {normalize_tag(tag.name) for tag in own}
        used = list_most_used(request.account_id, MOST_FEATURED + len(shown))
        names = [name for name in used if name not in shown][:MOST_FEATURED]
        return json_response(orjson.dumps(present_tags(names, request.account_id)))


class FeaturedByView(Endpoint):
    """The tags that an account shows on its profile."""

    scopes = {"GET": "read:accounts"}
    public = True

    @extend_schema(responses=schema.FeaturedTagEntity(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        return _answer_featured(account_id)


@beginning_again
def _answer_tag(name: str, viewer_id: int | None) -> HttpResponse:
    (tag,) = present_tags([name], viewer_id)
    return json_response(orjson.dumps(tag))


def _answer_featured(account_id: int) -> HttpResponse:
    tags: Collection[OwnTag] = list_own_tags(account_id, TagListKind.FEATURED)
    return json_response(present_featured(account_id, tags))


def _read_window(request: ApiRequest) -> Window:
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(request.query_params, limit, 0)


def _read_names(query: QueryDict, name: str) -> list[str]:
    """Normalized tags. Raises InvalidRequest for too many, or for a text that is no tag."""
    texts = [text for text in query.getlist(name) if text]
    if len(texts) > schema.MOST_NAMES:
        raise InvalidRequest(f"{name} has more than {schema.MOST_NAMES} tags")
    return [normalize_tag(_read_tag(text)) for text in texts]


def _read_tag(text: str) -> str:
    """A tag as it was typed, without `#`. Raises InvalidRequest."""
    name = without_tag_sign(text)
    tags = find_links(f"#{name}").tags
    if not tags or tags[0].text != name or len(tags[0].text) > LONGEST_NAME:
        raise InvalidRequest(f"{text[:LONGEST_NAME]!r} is not a tag")
    return tags[0].text


def _id_of(name: str) -> int:
    return tag_id_of(normalize_tag(name))
