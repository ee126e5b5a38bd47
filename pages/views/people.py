"""Lists of people: followers, followees, follow requests, muted and blocked accounts."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.api_client import ApiAnswer
from pages.texts import later as _
from pages.views.accounts import AboutAccount
from pages.views.base import Context, WebPage
from pages.views.timelines import cursors_of

Person = dict[str, Any]
MOST_FOUND = 10


def load_people(page: WebPage, accounts: Sequence[Person]) -> list[Person]:
    """For each account: `account`, and the viewer's `relationship`, None for guests and oneself."""
    viewer, relationships = page.viewer, {}
    ids = [account["id"] for account in accounts if viewer and account["id"] != viewer["id"]]
    if ids:
        answer = page.api.get("/api/v1/accounts/relationships", {"id[]": ids})
        relationships = {relationship["id"]: relationship for relationship in answer.body}
    return [
        {"account": account, "relationship": relationships.get(account["id"])}
        for account in accounts
    ]


def list_people(page: WebPage, answer: ApiAnswer, part: str = "person") -> Context:
    """What parts/people.html shows. `part`: what a row is; it says which buttons the row has."""
    return {"people": load_people(page, answer.body), "older": answer.older, "part": part}


def list_followed(page: WebPage) -> list[Person]:
    """The accounts that the viewer followed last: offered to a new list and for a new message."""
    path = f"/api/v1/accounts/{page.signed_in['id']}/following"
    return list(page.api.get(path, {"limit": MOST_FOUND}).body)


class FollowersPage(AboutAccount):
    """The followers of an account. The own ones can be removed."""

    collection: ClassVar[str] = "followers"

    def get(self, request: HttpRequest, username: str) -> HttpResponseBase:
        account = self.find_account(username)
        path = f"/api/v1/accounts/{account['id']}/{self.collection}"
        answer, is_own = self.api.get(path, cursors_of(request)), self.is_own(account)
        part = "follower" if is_own and self.collection == "followers" else "person"
        context = {
            "account": account, "is_own": is_own, "collection": self.collection,
            "is_hidden": account["hide_collections"] and not is_own,
            **list_people(self, answer, part),
        }  # fmt: skip
        return self.draw("people/edges.html", context)


class FollowingPage(FollowersPage):
    """The accounts that an account follows."""

    collection = "following"


class OwnPeoplePage(WebPage):
    """A list that only its owner sees. A class names the `path` in the API, and its texts."""

    needs_viewer = True
    path: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    empty: ClassVar[str]
    collection: ClassVar[str] = ""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.api.get(self.path, cursors_of(request))
        context = {
            "title": self.title, "about": self.about, "empty": self.empty, "is_own": True,
            "account": self.viewer, "collection": self.collection, **list_people(self, answer),
        }  # fmt: skip
        return self.draw("people/own.html", context)


class QuietFollowersPage(OwnPeoplePage):
    path = "/api/v1/accounts/quiet_followers"
    title = _("Quiet followers")
    about = _("They follow you without showing it. Only you and they know.")
    empty = _("No one follows you quietly.")
    collection = "quiet_followers"


class QuietFollowingPage(OwnPeoplePage):
    path = "/api/v1/accounts/quiet_following"
    title = _("Followed quietly")
    about = _("You follow these people without showing it. Only they and you know.")
    empty = _("You follow no one quietly.")
    collection = "quiet_following"


class SpecialPage(OwnPeoplePage):
    path = "/api/v1/accounts/special_following"
    title = _("Special")
    about = _("The people you marked as special. Only you see the mark.")
    empty = _("You have marked no one as special. The menu on a person's page does it.")
    collection = "special_following"


class RequestsPage(OwnPeoplePage):
    path = "/api/v1/follow_requests"
    title = _("Follow requests")
    about = _(
        "These people asked to follow you. Only people you approve see your posts for followers."
    )
    empty = _("There are no requests.")


class MutedPage(OwnPeoplePage):
    path = "/api/v1/mutes"
    title = _("Muted people")
    about = _("You do not see their posts. They do not know that you muted them.")
    empty = _("You have muted no one.")


class BlockedPage(OwnPeoplePage):
    path = "/api/v1/blocks"
    title = _("Blocked people")
    about = _("You and they do not see each other, and cannot follow each other.")
    empty = _("You have blocked no one.")
