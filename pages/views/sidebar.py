"""What is next to a page on a wide screen: what trends, and people to follow.

A script asks for it when it comes into view, so narrow screens never do. The browser keeps the
answer for KEPT_S, and all readers share the tags.
"""

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control

from pages.api_client import ApiClient, ApiRefused
from pages.views.base import OK, UNAUTHORIZED, WebPage
from pages.views.directory import suggested_accounts

TRENDS, TRENDS_KEY = "/api/v1/trends/tags", "pages.trends"
MOST_TAGS, MOST_PEOPLE = 5, 3
KEPT_S = 120
Entities = list[dict[str, Any]]


class SidebarPart(WebPage):
    """A part for the column on the right. What the API refuses is left out, but for a session that
    has ended.
    """

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw("parts/sidebar.html", {"tags": self._tags(), "people": self._people()})

    def _tags(self) -> Entities:
        """As a guest sees them. Cost: one round trip; once in KEPT_S that of the trends."""
        tags: Entities | None = cache.get(TRENDS_KEY)
        if tags is None:
            try:
                tags = ApiClient(self.request, "").get(TRENDS, {"limit": MOST_TAGS}).body
            except ApiRefused:
                return []
            cache.set(TRENDS_KEY, tags, KEPT_S)
        return tags or []

    def _people(self) -> Entities:
        if not self.api.token:
            return []
        try:
            return suggested_accounts(self, MOST_PEOPLE)
        except ApiRefused as refusal:
            if refusal.status == UNAUTHORIZED:
                raise
            return []

    def _limit_keeping(self, answer: HttpResponseBase) -> None:
        """The address names the session, so no other account gets what the browser keeps. A refusal
        is not kept."""
        if answer.status_code != OK:
            super()._limit_keeping(answer)
            return
        patch_cache_control(answer, private=True, max_age=KEPT_S)
