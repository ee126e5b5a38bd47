"""Pages with statuses, the public timeline, and what trends.

Home is in home.py, tags are in tags.py.
"""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from accounts.site_texts.queries import get_site_description
from pages.api_client import ApiAnswer, ApiRefused
from pages.texts import later as _
from pages.views.base import Context, WebPage

TREND_TAGS, TREND_POSTS = "/api/v1/trends/tags", "/api/v1/trends/statuses"
TREND_PAGE = 20
NO_TREND = _("Nothing trends right now. Posts that several people like or repost come here.")
CURSORS = ("max_id", "min_id", "since_id")


def cursors_of(request: HttpRequest) -> dict[str, str]:
    """What the query of a page says about where its list begins."""
    return {name: request.GET[name] for name in CURSORS if name in request.GET}


def list_cursors(query: str) -> list[tuple[str, str]]:
    """The cursors in a link of the API. Its other parameters are not in the address of the page."""
    return [pair for pair in parse_qsl(query) if pair[0] in CURSORS]


def older_query(request: HttpRequest, answer: ApiAnswer) -> str:
    """The query of the next page of a list: the cursor of the API, and what else the page asks."""
    if not answer.older:
        return ""
    left_out = (*CURSORS, "gone", "saved", "sent")
    others = [pair for pair in parse_qsl(request.GET.urlencode()) if pair[0] not in left_out]
    return urlencode([*others, *list_cursors(answer.older)])


class TimelinePage(WebPage):
    """A page with statuses. A class names the `path` in the API, a `title`, and what an `empty`
    page says, below an `icon`.

    A script that asks for older ones gets the timeline without the frame.
    """

    path = ""
    title = ""
    empty = _("There is nothing here yet.")
    icon = "list"
    template = "timeline.html"

    def get(self, request: HttpRequest, **names: Any) -> HttpResponseBase:
        answer = self.api.get(self.path.format(**names), self.query(request))
        return self.draw_statuses(request, answer, **names)

    def draw_statuses(
        self, request: HttpRequest, answer: ApiAnswer, **names: Any
    ) -> HttpResponseBase:
        context = {
            "statuses": answer.body,
            "older": older_query(request, answer),
            "newer": self.newer_query(request, answer),
            "title": self.title.format(**names),
            "empty": self.empty,
            "icon": self.icon,
        }
        if self.is_partial:
            return self.draw("parts/timeline.html", {**context, **names})
        return self.draw(self.template, {**context, **names, **self.more(**names)})

    def newer_query(self, request: HttpRequest, answer: ApiAnswer) -> str:
        """The query of the page before this one; empty if the page has no link to it."""
        return ""

    def more(self, **names: Any) -> Context:
        """What only this page shows."""
        return {}

    def query(self, request: HttpRequest) -> dict[str, str]:
        return cursors_of(request)


class PublicPage(TimelinePage):
    filter_place = "public"
    path = "/api/v1/timelines/public"
    title = _("Public posts")

    def more(self, **names: Any) -> Context:
        return {"place": "public"}


class GuestHome(PublicPage):
    """What a guest sees first: what this place is, who runs it, a post that people like."""

    template = "guest.html"

    def more(self, **names: Any) -> Context:
        return {"texts": get_site_description(), "liked": self._find_liked()}

    def _find_liked(self) -> list[Any]:
        """At most one post. None while trends do not answer: the page is worth more."""
        try:
            return list(self.api.get(TREND_POSTS, {"limit": 1}).body)
        except ApiRefused:
            return []


class ExplorePage(WebPage):
    """What trends, the best posts first. The first page begins with the tags.

    A script that asks for more posts gets them without the frame.
    """

    filter_place = "public"

    def get(self, request: HttpRequest) -> HttpResponseBase:
        offset = request.GET.get("offset") or "0"
        statuses = self.api.get(TREND_POSTS, {"offset": offset, "limit": TREND_PAGE}).body
        is_last = len(statuses) < TREND_PAGE
        older = "" if is_last else urlencode({"offset": int(offset) + TREND_PAGE})
        context = {
            "statuses": statuses,
            "older": older,
            "empty": NO_TREND,
            "name": gettext("More posts"),
        }
        if self.is_partial:
            return self.draw("parts/timeline.html", context)
        tags = [] if "offset" in request.GET else self.api.get(TREND_TAGS).body
        return self.draw("explore.html", {**context, "tags": tags})
