"""The viewer's filters: their list, and the form for one.

How they act is in pages/template_filters.py.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from pages.api_client import ApiRefused
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.settings import UNPROCESSABLE

FILTERS = "/api/v2/filters"
PAGE = "/settings/filters"
CONTEXTS = {
    "home": _("Home and lists"),
    "notifications": _("Notifications"),
    "public": _("Public posts, tags and searches"),
    "thread": _("Threads and direct messages"),
    "account": _("Pages of people"),
}
ACTIONS = {
    "warn": (_("Collapse it"), _("It says “Filtered”, and opens with a click")),
    "hide": (_("Leave it out"), _("Nothing shows that it was there")),
    "blur": (_("Cover its photos"), _("They open with a click")),
}
KEEP = "keep"
ENDS = {
    "": _("Never"),
    "1800": _("In 30 minutes"),
    "3600": _("In an hour"),
    "21600": _("In 6 hours"),
    "43200": _("In 12 hours"),
    "86400": _("In a day"),
    "604800": _("In a week"),
}
# Empty rows of the form. After each save there are as many again.
NEW_ROWS = 3
NEW = {"context": ["home", "public"], "filter_action": "warn", "expires_in": ""}
Values = dict[str, Any]


class FiltersPage(WebPage):
    """All filters of the viewer, the oldest first."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        filters = [_described(rule) for rule in self.api.get(FILTERS).body]
        context = {"filters": filters, "is_saved": "saved" in request.GET}
        return self.draw("settings/filters.html", context)


class FilterForm(WebPage):
    """The form for a filter: a new one without an id."""

    needs_viewer = True

    def get(self, request: HttpRequest, filter_id: str = "") -> HttpResponseBase:
        if not filter_id:
            return self._draw(NEW)
        rule = self.api.get(f"{FILTERS}/{filter_id}").body
        return self._draw({**rule, "expires_in": KEEP if rule["expires_at"] else ""})

    def post(self, request: HttpRequest, filter_id: str = "") -> HttpResponseBase:
        """With a fault the form is shown again, with what was typed."""
        method, path = ("PUT", f"{FILTERS}/{filter_id}") if filter_id else ("POST", FILTERS)
        try:
            self.api.send(method, path, _read_filter(request.POST))
        except ApiRefused as refusal:
            if refusal.status != UNPROCESSABLE:
                raise
            return self._draw(_typed(request.POST), refusal.message, UNPROCESSABLE)
        return HttpResponseRedirect(f"{PAGE}?saved", status=303)

    def _draw(self, values: Values, fault: str = "", status: int = 200) -> HttpResponse:
        rows = [*values.get("keywords", []), *[{"whole_word": True}] * NEW_ROWS]
        ends = {KEEP: gettext("As it is now")} if values["expires_in"] == KEEP else {}
        context = {
            "filter": values, "rows": rows, "fault": fault, "contexts": CONTEXTS,
            "actions": ACTIONS, "ends": ends | ENDS, "filter_id": self.kwargs.get("filter_id"),
        }  # fmt: skip
        return self.draw("settings/filter.html", context, status)


class DeleteFilter(WebPage):
    """Asks, then deletes a filter."""

    needs_viewer = True

    def get(self, request: HttpRequest, filter_id: str) -> HttpResponseBase:
        rule = self.api.get(f"{FILTERS}/{filter_id}").body
        return self.draw("settings/filter_delete.html", {"filter": rule})

    def post(self, request: HttpRequest, filter_id: str) -> HttpResponseBase:
        self.api.send("DELETE", f"{FILTERS}/{filter_id}")
        return HttpResponseRedirect(PAGE, status=303)


def _described(rule: Values) -> Values:
    """A filter with what the list says about it."""
    end = rule["expires_at"]
    return {
        **rule,
        "action": ACTIONS[rule["filter_action"]][0],
        "places": [CONTEXTS[context] for context in rule["context"]],
        "has_ended": end is not None and datetime.fromisoformat(end) <= datetime.now(UTC),
    }


def _read_filter(sent: QueryDict) -> Values:
    """What the form sends, as the API names it. A keyword without its text is removed."""
    typed = _typed(sent)
    end = typed.pop("expires_in")
    return {
        "title": typed["title"],
        "context": typed["context"],
        "filter_action": typed["filter_action"],
        "keywords_attributes": [
            keyword if keyword["keyword"] else {"id": keyword["id"], "_destroy": True}
            for keyword in typed["keywords"]
        ],
        **({} if end == KEEP else {"expires_in": end}),
    }


def _typed(sent: QueryDict) -> Values:
    """What was typed, as the form shows it."""
    return {
        "title": sent.get("title", ""),
        "context": sent.getlist("context"),
        "filter_action": sent.get("filter_action", ""),
        "expires_in": sent.get("expires_in", ""),
        "keywords": list(_read_rows(sent)),
    }


def _read_rows(sent: QueryDict) -> Iterator[Values]:
    """The rows of keywords without the empty new ones. A checked box names its row by number."""
    whole_words = set(sent.getlist("whole_word"))
    rows = zip(sent.getlist("keyword_id"), sent.getlist("keyword"), strict=False)
    for number, (keyword_id, text) in enumerate(rows):
        if keyword_id or text.strip():
            whole_word = str(number) in whole_words
            yield {"id": keyword_id, "keyword": text.strip(), "whole_word": whole_word}
