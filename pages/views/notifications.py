"""The notifications of the viewer, in groups: "Ann and 2 others favourited your post"."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from moderation.types import effect_of
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.timelines import cursors_of, older_query

NOTIFICATIONS = "/api/v2/notifications"
MARKERS = "/api/v1/markers"
# Which notifications a tab of the page shows, as parameters of the API.
TABS: dict[str, dict[str, Any]] = {
    "": {},
    "mentions": {"types[]": "mention"},
    "favourites": {"types[]": ["favourite", "reaction"]},
    "reposts": {"types[]": "reblog"},
    "follows": {"types[]": ["follow", "follow_request"]},
    "polls": {"types[]": "poll"},
}
TITLES = {
    "": _("All"), "mentions": _("Mentions"), "favourites": _("Favourites"), "reposts": _("Reposts"),
    "follows": _("Follows"), "polls": _("Polls"),
}  # fmt: skip
Group = dict[str, Any]


class InboxPage(WebPage):
    """The newest group first. A script marks all as read; without one there is a button."""

    filter_place = "notifications"
    needs_viewer = True

    def get(self, request: HttpRequest, tab: str = "") -> HttpResponseBase:
        query = {"expand_accounts": "partial_avatars", **TABS[tab], **cursors_of(request)}
        answer = self.api.get(NOTIFICATIONS, query)
        groups = _join(answer.body, self._read_up_to())
        is_first = not cursors_of(request)
        context = {
            "groups": groups, "older": older_query(request, answer), "tab": tab, "tabs": TITLES,
            "newest": groups[0]["most_recent_notification_id"] if groups and is_first else None,
            "is_unread": any(group["is_unread"] for group in groups),
        }  # fmt: skip
        return self.draw("notifications.html", context)

    def _read_up_to(self) -> int:
        markers = self.api.get(MARKERS, {"timeline[]": "notifications"}).body
        return int(markers["notifications"]["last_read_id"]) if markers else 0


class ReadNotifications(WebPage):
    """Moves the marker of notifications to the newest one that the page showed, never back: the
    page may be old."""

    needs_viewer = True
    shows_unread = True

    def post(self, request: HttpRequest) -> HttpResponseBase:
        moved = {"last_read_id": request.POST.get("up_to", ""), "forward_only": True}
        self.api.send("POST", MARKERS, {"notifications": moved})
        if not self.is_partial:
            return self.go_back("/notifications")
        return self.draw("parts/unread.html", {"is_replacement": True})


class UnreadNotifications(WebPage):
    """The numbers in the navigation, which an open page asks for now and then."""

    needs_viewer = True
    shows_unread = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw("parts/unread_counts.html", {})


class DismissGroup(WebPage):
    """Removes a group from the list."""

    needs_viewer = True

    def post(self, request: HttpRequest, group_key: str) -> HttpResponseBase:
        self.api.send("POST", f"{NOTIFICATIONS}/{group_key}/dismiss")
        return HttpResponse() if self.is_partial else self.go_back("/notifications")


class ClearNotifications(WebPage):
    """Asks, then removes all notifications."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw("clear_notifications.html", {})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        self.api.send("POST", "/api/v1/notifications/clear")
        return self.go_back("/notifications")


def _join(grouped: Mapping[str, Any], read_up_to: int) -> list[Group]:
    """The groups, each with its accounts and its status."""
    people = {
        account["id"]: account
        for account in (*grouped.get("partial_accounts", ()), *grouped["accounts"])
    }
    statuses = {status["id"]: status for status in grouped["statuses"]}
    return [
        {
            **group,
            "accounts": [people[account_id] for account_id in group["sample_account_ids"]],
            "others_count": group["notifications_count"] - 1,
            "status": statuses.get(group.get("status_id")),
            "warning": _explain(group.get("moderation_warning")),
            "is_unread": group["most_recent_notification_id"] > read_up_to,
        }
        for group in grouped["notification_groups"]
    ]


def _explain(warning: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A decision of the moderators, with what it does in words and the page of the notice."""
    if warning is None:
        return None
    number = int(warning["id"])
    notice = f"/notices?max_id={number + 1}#notice-{number}"
    return {**warning, "effect": effect_of(warning["measure"]), "notice": notice}
