"""Endpoints of home and author timelines."""

from collections.abc import Mapping

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.fields import flag_parameter
from infra.api.pages import Window, paging, read_window, tagged_page_response
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import StatusEntity
from posts.ids import BASE36_DIGITS
from posts.queries.rows import ALL_KINDS
from posts.types import Kind
from timelines.promotions.blend import HomePageRequest, blend_promotions
from timelines.promotions.schema import ALL_PROMOTIONS, HomeItemEntity
from timelines.queries.author import AuthorTimelineQuery, author_page
from timelines.queries.home import home_page

DEFAULT_LIMIT, MOST = 20, 40
PAGING = paging(BASE36_DIGITS)
# Filters of clients that match no post: none is pinned or has media.
NEVER = ("pinned", "only_media")
EXCLUDED = {"exclude_replies": Kind.REPLY, "exclude_reblogs": Kind.REPOST}
EXCLUDING = [
    flag_parameter(name, f"Leave every {kind.name.lower()} out") for name, kind in EXCLUDED.items()
]


class HomeView(Endpoint):
    """Posts of the accounts that I follow and my own, newest first."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(
        parameters=[*PAGING, ALL_PROMOTIONS, *CONDITIONAL],
        responses={200: HomeItemEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        viewer_id, query = request.account_id, request.query_params
        window = read_timeline_window(query)
        page = home_page(viewer_id, window, client=str(request.user.token_id))
        reading = HomePageRequest(viewer_id, window, read_flag(query, "all_promotions"))
        return tagged_page_response(request, blend_promotions(reading, page))


class AuthorView(Endpoint):
    """One account's posts, replies and reposts, newest first."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(
        parameters=[*PAGING, *EXCLUDING, *CONDITIONAL],
        responses={200: StatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        query = request.query_params
        window = read_timeline_window(query)
        if any(read_flag(query, name) for name in NEVER):
            require_account(account_id)
            return json_response(b"[]")
        left_out = {kind for name, kind in EXCLUDED.items() if read_flag(query, name)}
        kinds = [kind for kind in ALL_KINDS if kind not in left_out]
        wanted = AuthorTimelineQuery(account_id, request.viewer_id, kinds)
        return tagged_page_response(request, author_page(wanted, window))


def read_timeline_window(query: Mapping[str, str]) -> Window:
    """The requested part of a timeline. Raises: InvalidCursor, InvalidRequest."""
    limit = read_limit(query.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(query, limit, BASE36_DIGITS)
