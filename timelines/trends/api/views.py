"""Trends over HTTP, as Mastodon's. There are none of links: no previews are fetched."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from infra.api.endpoint import Endpoint
from infra.api.parsing import read_count, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import StatusEntity
from timelines.tags.api.present import present_tags
from timelines.tags.api.schema import TagEntity
from timelines.trends.cache import find_trends
from timelines.trends.feed import trending_page

TAGS, MOST_TAGS = 10, 20
POSTS, MOST_POSTS = 20, 40
LAST_OFFSET = 10_000
NOTHING = {"type": "array", "items": {}, "maxItems": 0}
OFFSET_PAGING = [
    OpenApiParameter("limit", {"type": "string", "pattern": "^[0-9]{1,9}$"}),
    OpenApiParameter("offset", {"type": "string", "pattern": "^[0-9]{0,4}$"}),
]


class TrendingTagsView(Endpoint):
    """Tags that more accounts used in the last day than usually. Computed every 5 minutes."""

    public = True

    @extend_schema(parameters=OFFSET_PAGING, responses=TagEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        offset, limit = _read_place(request, TAGS, MOST_TAGS)
        names = find_trends().tags[offset : offset + limit]
        return json_response(orjson.dumps(present_tags(names, request.viewer_id)))


class TrendingStatusesView(Endpoint):
    """Public posts of the last two days that many favourited or reposted, the newer ones first
    among equals. Computed every five minutes."""

    public = True

    @extend_schema(parameters=OFFSET_PAGING, responses=StatusEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        offset, limit = _read_place(request, POSTS, MOST_POSTS)
        statuses = trending_page(request.viewer_id, offset, limit)
        return json_response(b"[%b]" % b",".join(statuses))


class TrendingLinksView(Endpoint):
    """Trending links: there are none, because posts have no previews of links."""

    public = True

    @extend_schema(parameters=OFFSET_PAGING, responses={200: NOTHING})
    def get(self, request: ApiRequest) -> HttpResponse:
        _read_place(request, TAGS, MOST_TAGS)
        return json_response(b"[]")


def _read_place(request: ApiRequest, usual: int, most: int) -> tuple[int, int]:
    """Offset and limit. Raises: InvalidRequest."""
    query = request.query_params
    limit = read_limit(query.get("limit"), usual, most)
    return read_count(query, "offset", LAST_OFFSET), limit
