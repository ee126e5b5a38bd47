"""The search page: people, posts and tags."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.people import load_people
from pages.views.timelines import cursors_of

SEARCH, SUGGESTIONS = "/api/v2/search", "/api/v2/suggestions"
# What a tab shows. The first one shows the best of all.
TABS = {"": _("All"), "accounts": _("People"), "statuses": _("Posts"), "hashtags": _("Tags")}
BEST, A_PAGE = 5, 20
Found = dict[str, Any]


class SearchPage(WebPage):
    """Without words: the form, and for who is signed in some people to follow."""

    filter_place = "public"

    def get(self, request: HttpRequest) -> HttpResponseBase:
        words, tab = request.GET.get("q", "").strip(), request.GET.get("type", "")
        if tab not in TABS:
            raise Http404
        context = {"words": words, "tab": tab, "tabs": TABS}
        results = self._search(words, tab) if words else self._suggest()
        return self.draw("search.html", {**context, **results})

    def _search(self, words: str, tab: str) -> Found:
        query = {"q": words, "type": tab, "limit": A_PAGE if tab else BEST}
        offset = self.request.GET.get("offset", "")
        more = (
            cursors_of(self.request) if tab == "statuses" else {"offset": offset} if offset else {}
        )
        answer = self.api.get(SEARCH, {**query, **more})
        results: Found = answer.body
        people = load_people(self, results["accounts"])
        older = self._older(words, tab, results)
        incomplete = {"is_incomplete": answer.is_incomplete}
        return {**results, **incomplete, "people": people, "older": older}

    def _older(self, words: str, tab: str, results: Found) -> str:
        """The query of the next page of a tab. Guests get one page."""
        if not (tab and self.viewer and len(results[tab]) == A_PAGE):
            return ""
        if tab == "statuses":
            after = {"max_id": results[tab][-1]["id"]}
        else:
            after = {"offset": str(_count_of(self.request) + A_PAGE)}
        return urlencode({"q": words, "type": tab, **after})

    def _suggest(self) -> Found:
        if self.viewer is None:
            return {}
        answer = self.api.get(SUGGESTIONS, {"limit": A_PAGE})
        people = load_people(self, [suggestion["account"] for suggestion in answer.body])
        return {"suggested": people, "is_incomplete": answer.is_incomplete}


class SearchSuggestions(WebPage):
    """People and tags that fit what is being typed: a script shows them below the field."""

    needs_viewer = True
    shows_unread = False

    def get(self, request: HttpRequest) -> HttpResponseBase:
        words = request.GET.get("q", "").strip()
        kinds = ("accounts", "hashtags")
        results = {kind: self._find(words.lstrip("@#"), kind) for kind in kinds}
        return self.draw("parts/search_suggestions.html", {"words": words, **results})

    def _find(self, words: str, kind: str) -> list[Any]:
        if not words:
            return []
        query = {"q": words, "type": kind, "limit": BEST}
        results: list[Any] = self.api.get(SEARCH, query).body[kind]
        return results


def _count_of(request: HttpRequest) -> int:
    """The API has accepted it already: it is a number."""
    return int(request.GET.get("offset") or 0)
