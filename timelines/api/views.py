"""Endpoints of home and author timelines."""

from collections.abc import Mapping

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.queries.load import require_account
from accounts.texts.links import normalize_tag, without_tag_sign
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED
from infra.api.errors import InvalidRequest
from infra.api.fields import cursor_schema, flag_parameter
from infra.api.pages import Page, Window, paging, read_window, tagged_page_response
from infra.api.parsing import read_flag, read_limit, read_text
from infra.api.request import NO_QUERY, ApiRequest
from posts.api.schema import StatusEntity
from posts.ids import BASE36_DIGITS
from posts.queries.lists import MARK_DIGITS, list_pinned
from posts.queries.rows import ALL_KINDS
from posts.types import Kind
from timelines.cursors import decode_cursor
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.home.page import home_page
from timelines.promotions.blend import HomePageRequest, blend_promotions, most_replaced
from timelines.promotions.schema import ALL_PROMOTIONS, HomeItemEntity

DEFAULT_LIMIT, MOST = 20, 40
_FIRST_PAGE = Window(DEFAULT_LIMIT)
PAGING = paging(BASE36_DIGITS)
KIND_BY_FLAG = {"exclude_replies": Kind.REPLY, "exclude_reblogs": Kind.REPOST}
EXCLUDE_FLAGS = [
    flag_parameter("exclude_replies", "Leave replies out, but not those to the account itself"),
    flag_parameter("exclude_reblogs", "Leave every repost out"),
    flag_parameter("exclude_direct", "Leave my own direct posts out"),
]
ONLY_MEDIA = flag_parameter("only_media", "Only posts and replies with images")
PINNED = flag_parameter("pinned", "Only the pinned posts, the latest pin first")
TAGGED = OpenApiParameter("tagged", str, description="Only public posts with this tag")
AROUND = OpenApiParameter(
    "around_id",
    cursor_schema(BASE36_DIGITS),
    description="A page around this status, which may be deleted: at most half of the page is"
    " newer, then the status and older ones. Without promotions. 422 with another cursor",
)


class HomeView(Endpoint):
    """Posts of the accounts that I follow and my own, newest first."""

    scopes = {"GET": "read:statuses"}
    is_quick = True

    @extend_schema(
        parameters=[*PAGING, AROUND, ALL_PROMOTIONS, *CONDITIONAL],
        responses={200: HomeItemEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        viewer_id, query = request.account_id, request.query_params
        window = read_timeline_window(query)
        home_request = HomePageRequest(viewer_id, window, read_flag(query, "all_promotions"))
        if around := query.get("around_id"):
            return tagged_page_response(request, _read_around(request, window, around))
        client, replaced = str(request.user.token_id), most_replaced()
        page = home_page(viewer_id, window, client=client, most_replaced=replaced)
        return tagged_page_response(request, blend_promotions(home_request, page))


def _read_around(request: ApiRequest, window: Window, around: str) -> Page[bytes]:
    """The home page around this cursor. Raises: InvalidRequest, InvalidCursor."""
    if any(window[1:]):
        raise InvalidRequest("around_id cannot be combined with max_id, since_id or min_id")
    client, place = str(request.user.token_id), decode_cursor(around)
    return home_page(request.account_id, window, client=client, around=place)


class AuthorView(Endpoint):
    """One account's posts, replies and reposts, newest first."""

    scopes = {"GET": "read:statuses"}
    public = True
    is_quick = True

    @extend_schema(
        parameters=[*PAGING, *EXCLUDE_FLAGS, ONLY_MEDIA, PINNED, TAGGED, *CONDITIONAL],
        responses={200: StatusEntity(many=True), 304: NOT_MODIFIED},
    )
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        query = request.query_params
        if read_flag(query, "pinned"):
            return tagged_page_response(request, _read_pinned(request, account_id))
        wanted = _read_author_query(query, account_id, request.viewer_id)
        return tagged_page_response(request, author_page(wanted, read_timeline_window(query)))


def _read_author_query(
    query: Mapping[str, str], account_id: int, viewer_id: int | None
) -> AuthorTimelineQuery:
    """Which posts of the account are wanted. Raises: InvalidRequest."""
    if query is NO_QUERY:
        return AuthorTimelineQuery(account_id, viewer_id)
    left_out = {kind for name, kind in KIND_BY_FLAG.items() if read_flag(query, name)}
    return AuthorTimelineQuery(
        account_id,
        viewer_id,
        [kind for kind in ALL_KINDS if kind not in left_out],
        only_media=read_flag(query, "only_media"),
        with_direct=not read_flag(query, "exclude_direct"),
        tag=normalize_tag(without_tag_sign(read_text(query, "tagged"))) or None,
    )


def _read_pinned(request: ApiRequest, account_id: int) -> Page[bytes]:
    """The pinned posts of an account. Raises: AccountNotFound, InvalidCursor."""
    query = request.query_params
    require_account(account_id)
    window = read_window(query, read_limit(query.get("limit"), DEFAULT_LIMIT, MOST), MARK_DIGITS)
    has_replies = not read_flag(query, "exclude_replies")
    return list_pinned(account_id, request.viewer_id, window, has_replies)


def read_timeline_window(query: Mapping[str, str]) -> Window:
    """The requested part of a timeline. Raises: InvalidCursor, InvalidRequest."""
    if query is NO_QUERY:
        return _FIRST_PAGE
    limit = read_limit(query.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(query, limit, BASE36_DIGITS)
