"""People to discover: for the viewer, and the directory of those who want to be found."""

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.people import load_people

DIRECTORY, SUGGESTIONS = "/api/v1/directory", "/api/v2/suggestions"
# What a tab shows. Guests have no suggestions.
TABS = {"": _("For you"), "active": _("Active"), "new": _("New here")}
A_PAGE = 20
# What a relationship says of an account that is no suggestion any more.
SETTLED = ("following", "requested", "blocking", "blocked_by", "muting")
Person = dict[str, Any]


def suggested_accounts(page: WebPage, most: int = A_PAGE) -> list[Person]:
    """Accounts that the viewer may want to follow. If there are few: also active ones of the
    directory. Two requests to the API at most."""
    suggested = page.api.get(SUGGESTIONS, {"limit": most}).body
    accounts = [suggestion["account"] for suggestion in suggested]
    if len(accounts) < most // 2:
        accounts += page.api.get(DIRECTORY, {"order": "active", "limit": most}).body
    others = {account["id"]: account for account in accounts}
    others.pop(page.signed_in["id"], None)
    return list(others.values())[:most]


def suggested_people(page: WebPage, most: int = A_PAGE) -> list[Person]:
    """As load_people, of suggested accounts. Those of the directory may be followed already: they
    are left out, and so is everybody the viewer blocks, mutes or asked."""
    people = load_people(page, suggested_accounts(page, most))
    return [person for person in people if is_new_to_viewer(person["relationship"])]


def is_new_to_viewer(relationship: Person | None) -> bool:
    """Whether the viewer may want to follow the account of a relationship."""
    return relationship is not None and not any(relationship[state] for state in SETTLED)


class PeoplePage(WebPage):
    """`?order=active` or `new`: a part of the directory; without it, people for the viewer."""

    template: ClassVar[str] = "people/directory.html"

    def get(self, request: HttpRequest) -> HttpResponseBase:
        order = request.GET.get("order", "" if self.api.token else "active")
        if order not in TABS:
            raise Http404
        people, older = self._list(order) if order else (suggested_people(self), "")
        context = {
            "tab": order, "tabs": TABS if self.viewer else {**TABS, "": ""},
            "people": people, "older": older, "part": "person",
        }  # fmt: skip
        return self.draw(self.template, context)

    def _list(self, order: str) -> tuple[list[Person], str]:
        """A page of the directory, and the query of the next one."""
        offset = self.request.GET.get("offset") or "0"
        query = {"order": order, "offset": offset, "limit": A_PAGE}
        accounts: list[Person] = self.api.get(DIRECTORY, query).body
        is_last = len(accounts) < A_PAGE
        after = "" if is_last else urlencode({"order": order, "offset": int(offset) + A_PAGE})
        return load_people(self, accounts), after
