"""The home page: it opens where the reader stopped, and new posts come in while it is open.

The catch-up, and why a promotion is there.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiAnswer, ApiRefused
from pages.composer import new_composer
from pages.home_start import AROUND, PAGE, Opening, home_start
from pages.texts import later as _
from pages.views.base import Context, WebPage
from pages.views.timelines import GuestHome, TimelinePage, cursors_of, list_cursors
from posts.ids import MalformedPostId, PostId
from timelines.increments.post_stream import LAG_S

HOME = "/api/v1/timelines/home"
MARKERS = "/api/v1/markers"
# The pages have a card for each kind of promotion.
ALL_KINDS = {"all_promotions": "true"}
# New posts that an open page gets at once. If there are more, it reads its beginning again.
MOST_NEW = 40
CATCH_UP = "/api/v1/timelines/home/catch_up"
CATCH_UP_FILTERS = {
    "exclude_replies": _("Without replies"),
    "exclude_reblogs": _("Without reposts"),
}
CATCH_UP_PARAMETERS = (*CATCH_UP_FILTERS, "bound", "after_id")
Item = Mapping[str, Any]


class HomePage(TimelinePage):
    """The home timeline with the form for a new post; for guests the public timeline.

    Without a query it begins at the entry that was read last, if there is anything unread.
    """

    filter_place = "home"
    path = HOME
    title = _("Home")
    empty = _("What the people you follow write comes here.")
    template = "home.html"
    marker: Context = {}

    def get(self, request: HttpRequest, **names: Any) -> HttpResponseBase:
        if not self.api.token:
            return GuestHome.as_view()(request)
        if not request.GET:
            return self.draw_statuses(request, self._find_start())
        if "min_id" in request.GET:
            return self.draw_statuses(request, self._find_newer(request))
        return super().get(request, **names)

    def query(self, request: HttpRequest) -> dict[str, str]:
        return cursors_of(request) | ALL_KINDS

    def more(self, **names: Any) -> Context:
        is_live = not cursors_of(self.request)
        return {"composer": new_composer(self, "home"), "marker": self.marker, "is_live": is_live}

    def newer_query(self, request: HttpRequest, answer: ApiAnswer) -> str:
        """Above the place where the reader stopped, and above a full page of newer posts."""
        is_below = self.marker or "min_id" in request.GET
        return urlencode(list_cursors(answer.newer)) if is_below else ""

    def _find_newer(self, request: HttpRequest) -> ApiAnswer:
        """The next newer entries. Without those that arrived late, below the cursor: they have
        their place further down."""
        answer = self.api.get(HOME, self.query(request))
        above = _above(request.GET["min_id"], answer.body)
        is_full = len(_entries(answer.body)) == PAGE
        return answer._replace(body=above, newer=answer.newer if is_full else "")

    def _find_start(self) -> ApiAnswer:
        """The entries from the marker's downwards; from the top if nothing above it is new, or none
        is left.

        Posts that arrived late are unread, but their place is below the marker.
        """
        opening = Opening()
        answer = self.api.get_by(home_start, opening=opening)
        if opening.unread is None:
            return answer
        above = _above(opening.last_read_id, answer.body)
        read = answer.body[len(above) :]
        new = [status for status in above if status["account"]["id"] != self.signed_in["id"]]
        if not (new and read):
            return self.api.get(HOME, ALL_KINDS)
        count, is_more = opening.unread
        if len(above) < AROUND // 2:
            count, is_more = len(new), False
        self.marker = {"unread_count": count, "unread_is_more": is_more}
        return answer._replace(body=read, newer=f"min_id={read[0]['id']}")


class ReadHome(WebPage):
    """Moves the marker: the reader has seen this entry and what is below it.

    A script says so by itself, perhaps in an old tab, so it only moves the marker forward. The
    button of a page without scripts may also move it back.
    """

    needs_viewer = True

    def post(self, request: HttpRequest) -> HttpResponseBase:
        last_read_id = request.POST.get("last_read_id", "")
        moved = {"last_read_id": last_read_id, "forward_only": self.is_partial}
        self.api.send("POST", MARKERS, {"home": moved})
        return HttpResponse(status=204) if self.is_partial else self.go_back("/")


class NewPosts(WebPage):
    """Posts that arrived in the home timeline since one of them: what the open page asks for.

    `since_id`: the newest that the page shows. `as_of`: the X-As-Of of an answer before, if it is
    newer, so that news of a post which is gone again are not looked up for ever. `told`: the page
    has just sent a post, or the stream told of one. What answers cheaply learns of it later.
    """

    filter_place = "home"
    needs_viewer = True
    shows_unread = False

    def get(self, request: HttpRequest) -> HttpResponseBase:
        """204 if there is nothing new.

        That costs no query, once the newest entry is LAG_S old and the page has an `as_of`; until
        then it costs a poll of the timeline.
        """
        since_id, as_of = request.GET.get("since_id", ""), request.GET.get("as_of", "")
        since = as_of if as_of not in ("", since_id) else _before(since_id)
        news = self.api.get(f"{HOME}/news", {"since_id": since}, alone=True).body
        if not (news["new"] or "told" in request.GET):
            return HttpResponse(status=204)
        statuses = self.api.get(HOME, {"since_id": since_id, "limit": MOST_NEW} | ALL_KINDS).body
        if not statuses:
            return HttpResponse(status=204, headers={"X-As-Of": news["as_of"]})
        answer = self.draw("parts/statuses.html", {"statuses": statuses})
        if len(_above(since_id, statuses)) == MOST_NEW:
            answer["X-More"] = "1"
        return answer


class ReadCatchUp(WebPage):
    """What arrived at home since the reader stopped, by author, page by page to its end.

    POST says that the reader is done.
    """

    filter_place = "home"
    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        query = {name: request.GET[name] for name in CATCH_UP_PARAMETERS if request.GET.get(name)}
        answer = self.api.get(CATCH_UP, query)
        context = {
            "caught": answer.body,
            "older": answer.older,
            "is_first": "after_id" not in query,
            "has_filters": any(name in query for name in CATCH_UP_FILTERS),
            "filters": [(name, label, name in query) for name, label in CATCH_UP_FILTERS.items()],
        }
        return self.draw("catch_up.html", context)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        self.api.send("POST", CATCH_UP, {"bound": request.POST.get("bound", "")})
        return self.go_back("/")


class WhyPromotedPage(WebPage):
    """Why the viewer sees a promotion: who paid for it, who sees it, how often, until when."""

    needs_viewer = True

    def get(self, request: HttpRequest, campaign_id: int) -> HttpResponseBase:
        why = self.api.get(f"/api/v1/promotions/{campaign_id}").body
        return self.draw("why_promoted.html", {"why": why, "account": self._account_of(why)})

    def post(self, request: HttpRequest, campaign_id: int) -> HttpResponseBase:
        """Hides it for good."""
        self.api.send("POST", f"/api/v1/promotions/{campaign_id}/hide")
        return HttpResponseRedirect("/", status=303)

    def _account_of(self, why: Context) -> Context | None:
        """The account whose mute hides the promotion; None for an ad, or if it is gone."""
        if why["account_id"] is None:
            return None
        try:
            account: Context = self.api.get(f"/api/v1/accounts/{why['account_id']}").body
        except ApiRefused:
            return None
        return account


def _before(cursor: str) -> str:
    """As far back as a post may belong that arrives now: `as_of` of an answer reaches back so far.

    A post of the same second as the newest one belongs below it, if its author's id is lower.
    """
    try:
        second = PostId.from_cursor(cursor).second
    except MalformedPostId:
        return cursor  # the API has the words for it
    return PostId(max(second - LAG_S, 0), 0, 0).public


def _above(cursor: str, items: Iterable[Item]) -> list[Item]:
    """Those that are newer than a cursor of the API. It also returns posts that arrived late."""
    lowest = PostId.from_cursor(cursor).number if cursor else 0
    return [item for item in items if int(item["id"]) > lowest]


def _entries(items: Iterable[Item]) -> list[Item]:
    """Without promotions: they are not counted, and no cursor or marker is one of them."""
    return [item for item in items if not item.get("promoted")]
