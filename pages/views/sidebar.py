"""What is next to a page on a wide screen: what trends, and people to follow.

A script asks for it when it comes into view, so narrow screens never do. All readers share the
tags for KEPT_S, and a browser keeps the part of a guest that long. Who is suggested is kept as long
for each reader, but each answer leaves out who is followed, muted, blocked, dismissed, limited or
not discoverable by then.
"""

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control

from infra.sharding.errors import NO_ANSWER
from pages.api_client import ApiClient, ApiRefused
from pages.views.base import OK, UNAUTHORIZED, WebPage
from pages.views.directory import is_new_to_viewer, suggested_accounts
from pages.views.people import Person, load_people
from relations.suggestions.queries.suggest import load_dismissed

TRENDS, TRENDS_KEY, PEOPLE_KEY = "/api/v1/trends/tags", "pages.trends", "pages.suggested"
MOST_TAGS, MOST_PEOPLE, MOST_KEPT = 5, 3, 12
KEPT_S = 120
Entities = list[dict[str, Any]]


class SidebarPart(WebPage):
    """A part for the column on the right. What the API refuses is left out, but for a session that
    has ended.

    `?people=no`: the page next to it suggests people. `?without=ID`: it is about this account.
    """

    shows_unread = False

    def get(self, request: HttpRequest) -> HttpResponseBase:
        context = {"tags": self._tags(), "people": self._people(), "part": "aside"}
        return self.draw("parts/sidebar.html", context)

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

    def _people(self) -> list[Person]:
        if not self.api.token or self.request.GET.get("people") == "no":
            return []
        try:
            return self._new_people()
        except ApiRefused as refusal:
            if refusal.status == UNAUTHORIZED:
                raise
            return []
        except NO_ANSWER:
            return []

    def _new_people(self) -> list[Person]:
        """Cost: a query, the accounts and their relationships; once in KEPT_S that of the
        suggestions."""
        dismissed = load_dismissed(int(self.signed_in["id"]))
        ids = [i for i in self._suggested_ids() if int(i) not in dismissed]
        if not ids:
            return []
        accounts = self.api.get("/api/v1/accounts", {"id[]": ids}).body
        shown = self.request.GET.get("without")
        offered = [a for a in accounts if a["id"] != shown and _may_be_offered(a)]
        people = load_people(self, offered)
        return [p for p in people if is_new_to_viewer(p["relationship"])][:MOST_PEOPLE]

    def _suggested_ids(self) -> list[str]:
        key = f"{PEOPLE_KEY}.{self.signed_in['id']}"
        ids: list[str] | None = cache.get(key)
        if ids is None:
            ids = [account["id"] for account in suggested_accounts(self, MOST_KEPT)]
            cache.set(key, ids, KEPT_S)
        return ids

    def _limit_keeping(self, answer: HttpResponseBase) -> None:
        """A refusal is not kept."""
        if answer.status_code == OK and not self.api.token:
            patch_cache_control(answer, private=True, max_age=KEPT_S)
            return
        super()._limit_keeping(answer)


def _may_be_offered(account: dict[str, Any]) -> bool:
    """As the suggestions decide, by the account as it is now."""
    return bool(account["discoverable"]) and not account.get("limited")
