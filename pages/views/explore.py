"""What trends: tags and posts."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from pages.texts import later as _
from pages.views.base import WebPage

TAGS, POSTS = "/api/v1/trends/tags", "/api/v1/trends/statuses"
A_PAGE = 20
EMPTY = _("Nothing trends right now. Posts that several people like or repost come here.")


class ExplorePage(WebPage):
    """The best posts first. The first page begins with the tags.

    A script that asks for more posts gets them without the frame.
    """

    filter_place = "public"

    def get(self, request: HttpRequest) -> HttpResponseBase:
        offset = request.GET.get("offset") or "0"
        statuses = self.api.get(POSTS, {"offset": offset, "limit": A_PAGE}).body
        is_last = len(statuses) < A_PAGE
        older = "" if is_last else urlencode({"offset": int(offset) + A_PAGE})
        context = {
            "statuses": statuses,
            "older": older,
            "empty": EMPTY,
            "name": gettext("More posts"),
        }
        if self.is_partial:
            return self.draw("parts/timeline.html", context)
        tags = [] if "offset" in request.GET else self.api.get(TAGS).body
        return self.draw("explore.html", {**context, "tags": tags})
