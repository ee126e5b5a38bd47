"""The page of an account: its posts, its counts, and what a viewer can do with it."""

from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from pages.api_client import ApiRefused
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.timelines import cursors_of

NOT_FOUND = 404
# Which posts a tab of the page shows, as parameters of the API.
TABS = {
    "": {"exclude_replies": "true"},
    "replies": {},
    "media": {"only_media": "true"},
}
# The pages with a form about an account, and their titles.
FORMS = {
    "block": _("Block @%(acct)s"),
    "mute": _("Mute @%(acct)s"),
    "unfollow": _("Unfollow @%(acct)s"),
    "note": _("Note about @%(acct)s"),
}


class AccountRenamed(Exception):
    """The page is at another address now."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class AboutAccount(WebPage):
    """A page about the account that its address names."""

    def find_account(self, username: str) -> dict[str, Any]:
        """The account. The viewer's own has the counts and texts that only its owner sees.

        Raises: ApiRefused; AccountRenamed for a page at a former name.
        """
        if self.viewer and self.viewer["acct"] == username:
            return self.viewer
        account = self.api.get("/api/v1/accounts/lookup", {"acct": username}).body
        if self.request.method == "GET" and "@" not in username:
            self._check_name(username, account["acct"])
        return self.viewer if self.is_own(account) and self.viewer else account

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super()._answer(request, *args, **kwargs)
        except AccountRenamed as renamed:
            return HttpResponsePermanentRedirect(renamed.address)

    def _check_name(self, username: str, current: str) -> None:
        if username.lower() != current:
            address = self.request.get_full_path()
            raise AccountRenamed(address.replace(f"/@{username}", f"/@{current}", 1))

    def is_own(self, account: dict[str, Any]) -> bool:
        return bool(self.viewer and self.viewer["id"] == account["id"])

    def find_relationship(self, account: dict[str, Any]) -> dict[str, Any] | None:
        """None for guests, and with oneself."""
        if not self.viewer or self.is_own(account):
            return None
        query = {"id[]": account["id"]}
        relationships: list[dict[str, Any]] = self.api.get(
            "/api/v1/accounts/relationships", query
        ).body
        return relationships[0] if relationships else None


class AccountPage(AboutAccount):
    filter_place = "account"

    def get(self, request: HttpRequest, username: str, tab: str = "") -> HttpResponseBase:
        try:
            account = self.find_account(username)
        except ApiRefused as refusal:
            return self._say_absent(username, refusal)
        path = f"/api/v1/accounts/{account['id']}/statuses"
        statuses = self.api.get(path, {**TABS[tab], **cursors_of(request)})
        pinned = [] if tab or request.GET else self.api.get(path, {"pinned": "true"}).body
        context = {
            "account": account, "statuses": _without_messages(statuses.body),
            "older": statuses.older,
            "pinned": pinned, "relationship": self.find_relationship(account), "tab": tab,
        }  # fmt: skip
        return self.draw("account.html", context)

    def _say_absent(self, username: str, refusal: ApiRefused) -> HttpResponseBase:
        """The API does not say whether an account is suspended or never was."""
        if refusal.status != NOT_FOUND:
            raise refusal
        missing = {
            "title": gettext("There is no account @%(username)s") % {"username": username},
            "why": gettext("The name has a mistake, or the account was deleted or suspended."),
            "way": "/search", "way_name": gettext("Search for people"),
        }  # fmt: skip
        return self.draw_missing(missing)


def _without_messages(statuses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are no direct messages: the API has those of the viewer, and they have pages of
    their own."""
    return [status for status in statuses if status["visibility"] != "direct"]


class AccountFormPage(AboutAccount):
    """A question about an account. Its form is sent to AccountAct."""

    needs_viewer = True

    def get(self, request: HttpRequest, username: str, form: str) -> HttpResponseBase:
        if form not in FORMS:
            raise Http404
        account = self.find_account(username)
        context = {
            "account": account, "relationship": self.find_relationship(account),
            "form": form, "title": FORMS[form] % account,
        }  # fmt: skip
        return self.draw(f"people/{form}.html", context)


class AccountListsPage(AboutAccount):
    """Which lists of the viewer an account is in."""

    needs_viewer = True

    def get(self, request: HttpRequest, username: str) -> HttpResponseBase:
        account = self.find_account(username)
        context = {
            "account": account, "title": gettext("Lists with @%(acct)s") % account,
            "lists": self.api.get("/api/v1/lists").body, "ids": self._list_ids(account),
        }  # fmt: skip
        return self.draw("people/lists.html", context)

    def post(self, request: HttpRequest, username: str) -> HttpResponseBase:
        """Makes the account a member of the chosen lists, and of no others."""
        account = self.find_account(username)
        wanted, present = set(request.POST.getlist("lists")), self._list_ids(account)
        members = {"account_ids": [account["id"]]}
        for method, ids in (("POST", wanted - present), ("DELETE", present - wanted)):
            for list_id in sorted(ids):
                self.api.send(method, f"/api/v1/lists/{list_id}/accounts", members)
        return self.go_back(f"/@{username}")

    def _list_ids(self, account: dict[str, Any]) -> set[str]:
        return {
            account_list["id"]
            for account_list in self.api.get(f"/api/v1/accounts/{account['id']}/lists").body
        }


class AccountRedirect(WebPage):
    """Addresses that name an account in another way lead to its page."""

    def get(self, request: HttpRequest, username: str) -> HttpResponseBase:
        return HttpResponseRedirect(f"/@{username}")
