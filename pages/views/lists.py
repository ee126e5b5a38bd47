"""The viewer's lists of accounts: their timelines, names and members."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.site import Entity
from pages.texts import later as _
from pages.views.base import Context, WebPage
from pages.views.people import MOST_FOUND, list_followed
from pages.views.timelines import TimelinePage, cursors_of

LISTS = "/api/v1/lists"
MOST_FACES = 40
# What a list shows of the replies of its members.
POLICIES = {
    "list": _("Replies to members of the list"),
    "followed": _("Replies to anyone I follow"),
    "none": _("No replies to others"),
}


class ListsPage(WebPage):
    """All lists of the viewer, and the form for a new one."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._draw_lists({})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            made = self.api.send("POST", LISTS, {"title": request.POST.get("title", "")}).body
        except ApiRefused as refusal:
            return self._draw_lists({"refusal": refusal}, refusal.status)
        return self.go_back(f"/lists/{made['id']}/edit")

    def _draw_lists(self, context: Context, status: int = 200) -> HttpResponseBase:
        lists = self.api.get(LISTS, {"with_members": "true"}).body
        faces = self._load_faces(lists)
        whole = {"lists": lists, "faces": faces, "policies": POLICIES, **context}
        return self.draw("lists.html", whole, status)

    def _load_faces(self, lists: Sequence[Entity]) -> dict[str, Entity]:
        """Some members of each of the first lists, by id. At most one request to the API."""
        sample = [
            account_id
            for account_list in lists
            for account_id in account_list["sample_account_ids"]
        ]
        ids = list(dict.fromkeys(sample))[:MOST_FACES]
        accounts = self.api.get("/api/v1/accounts", {"id[]": ids}).body if ids else []
        return {account["id"]: account for account in accounts}


class ListPage(TimelinePage):
    """The posts of the members of a list."""

    filter_place = "home"
    needs_viewer = True
    path = "/api/v1/timelines/list/{list_id}"
    template = "list.html"
    empty = _("The people in this list have not posted yet.")

    def more(self, **names: Any) -> Context:
        account_list = self.api.get(f"{LISTS}/{names['list_id']}").body
        return {"list": account_list, "title": account_list["title"]}


class EditList(WebPage):
    """The name and the members of a list, and people who can be added: those the viewer follows."""

    needs_viewer = True

    def get(self, request: HttpRequest, list_id: str) -> HttpResponseBase:
        words, path = request.GET.get("q", "").strip(), f"{LISTS}/{list_id}"
        account_list = self._get_list(list_id)
        members = self.api.get(f"{path}/accounts", cursors_of(request))
        is_empty = not (words or account_list["members_count"])
        context = {
            "list": account_list, "policies": POLICIES, "words": words,
            "members": members.body, "older": members.older,
            "found": list_followed(self) if is_empty else self._find(words, path),
        }  # fmt: skip
        return self.draw("list_edit.html", context)

    def _get_list(self, list_id: str) -> Entity:
        """With the number of its members. Raises: ApiRefused."""
        lists = self.api.get(LISTS, {"with_members": "true"}).body
        by_id: dict[str, Entity] = {account_list["id"]: account_list for account_list in lists}
        return by_id[list_id] if list_id in by_id else self.api.get(f"{LISTS}/{list_id}").body

    def post(self, request: HttpRequest, list_id: str) -> HttpResponseBase:
        sent = {
            name: request.POST[name]  # of a box and its hidden input the last one
            for name in ("title", "replies_policy", "exclusive")
            if name in request.POST
        }
        self.api.send("PUT", f"{LISTS}/{list_id}", sent)
        return self.go_back(f"/lists/{list_id}/edit")

    def _find(self, words: str, path: str) -> list[Entity]:
        """Followed accounts with these words in their names that are no members yet."""
        if not words:
            return []
        query = {"q": words, "following": "true", "limit": MOST_FOUND}
        accounts = self.api.get("/api/v1/accounts/search", query).body
        members = {member["id"] for member in self.api.get(f"{path}/accounts", {"limit": 0}).body}
        return [account for account in accounts if account["id"] not in members]


class DeleteList(WebPage):
    """Asks, then deletes a list."""

    needs_viewer = True

    def get(self, request: HttpRequest, list_id: str) -> HttpResponseBase:
        return self.draw("list_delete.html", {"list": self.api.get(f"{LISTS}/{list_id}").body})

    def post(self, request: HttpRequest, list_id: str) -> HttpResponseBase:
        self.api.send("DELETE", f"{LISTS}/{list_id}")
        return self.go_back("/lists")


class ListMembership(WebPage):
    """Adds one account to a list, or removes it. May run twice."""

    needs_viewer = True

    def post(self, request: HttpRequest, list_id: str, act: str) -> HttpResponseBase:
        method = {"add": "POST", "remove": "DELETE"}[act]
        sent = {"account_ids": [request.POST.get("account_id", "")]}
        self.api.send(method, f"{LISTS}/{list_id}/accounts", sent)
        return self.go_back(f"/lists/{list_id}/edit")
