"""Where the home page begins: one question for the entries, the marker and what is unread."""

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse

from infra.api.endpoint import Endpoint
from infra.api.pages import Page, Window, page_response
from infra.api.request import ApiRequest
from infra.caching.questions import answer_of, ask_along
from infra.confirmations import confirm_now
from posts.fragments.read import status_id_of
from posts.ids import PostId
from timelines.catch_up.count import UnreadCount, count_unread_entries
from timelines.home.page import home_page
from timelines.markers.cache import ask_markers
from timelines.markers.types import MarkerState, Timeline
from timelines.promotions.blend import HomePageRequest, blend_promotions, most_replaced

PAGE = 20
# Half of a page around the marker is newer and not shown at first.
AROUND = 40


class Opening:
    """`unread`: what is new above the entry of the marker; None if nothing is, or if that is not
    known. `last_read_id`: of this entry, if something is."""

    def __init__(self) -> None:
        self.unread: UnreadCount | None = None
        self.last_read_id = ""


class HomeStart(Endpoint):
    """The newest entries with promotions; those around the marker if posts of others are above it.

    Cost: as `home_page`. Only if posts may be above the marker they are counted, and the page
    around it is read.
    """

    scopes = {"GET": "read:statuses"}

    def get(self, request: ApiRequest, opening: Opening) -> HttpResponse:
        reader_id, client = request.account_id, str(request.user.token_id)
        markers = ask_along(ask_markers(reader_id))
        wanted = HomePageRequest(reader_id, Window(PAGE), all_kinds=True)
        page = home_page(reader_id, wanted.window, client=client, most_replaced=most_replaced())
        confirm_now()
        marker = answer_of(markers).get(Timeline.HOME)
        if marker is not None and _may_have_news(reader_id, page, _place_of(marker)):
            opening.unread = _count_unread(reader_id, marker)
        if marker is None or opening.unread is None:
            return page_response(request, blend_promotions(wanted, page))
        opening.last_read_id = _place_of(marker).public
        window, place = Window(AROUND), _place_of(marker)
        return page_response(request, home_page(reader_id, window, client=client, around=place))


def _place_of(marker: MarkerState) -> PostId:
    return PostId.from_base36(marker.last_read_id)


def _may_have_news(reader_id: int, page: Page[bytes], place: PostId) -> bool:
    """Whether a post of another account is above the marker, or may be: all of the page is."""
    above = [i for body in page.items if (i := PostId.from_public(status_id_of(body))) > place]
    is_all = len(above) == len(page.items) and page.older is not None
    return is_all or any(post_id.author_id != reader_id for post_id in above)


def _count_unread(reader_id: int, marker: MarkerState) -> UnreadCount | None:
    """None if nothing is, or if a shard does not answer."""
    try:
        count = count_unread_entries(reader_id, marker)
    except (OperationalError, InterfaceError):
        return None
    return count if count.total else None


home_start = HomeStart()
