"""The viewer's scheduled posts: the list, another time for one, and its end."""

from operator import itemgetter
from typing import Any

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.composer import NOT_FOUND, READERS
from pages.schedule import read_time
from pages.views.base import WebPage
from pages.views.timelines import cursors_of, older_query

SCHEDULED, PAGE = "/api/v1/scheduled_statuses", "/scheduled"
UNPROCESSABLE = 422
ScheduledPost = dict[str, Any]


class ScheduledPage(WebPage):
    """The soonest of a page first, each with a form for another time.

    `?saved=`: the id of the one that was just saved. `?gone`: one was published before it was
    changed.
    """

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._draw()

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Another time. One that could not be published is tried again then."""
        scheduled_id = request.POST.get("id", "")
        try:
            sent = {"scheduled_at": read_time(request.POST)}
            self.api.send("PUT", f"{SCHEDULED}/{scheduled_id}", sent)
        except ApiRefused as refusal:
            if refusal.status == UNPROCESSABLE:
                return self._draw(refusal)
            return lead_back(refusal)
        return HttpResponseRedirect(f"{PAGE}?saved={scheduled_id}", status=303)

    def _draw(self, refusal: ApiRefused | None = None) -> HttpResponseBase:
        """After a refusal the form of that post is open, with what was typed."""
        answer = self.api.get(SCHEDULED, cursors_of(self.request))
        sent = self.request.POST
        context = {
            "posts": sorted(answer.body, key=itemgetter("scheduled_at")),
            "older": older_query(self.request, answer),
            "saved": self._find_saved(answer.body),
            "is_gone": "gone" in self.request.GET,
            "readers": READERS,
            "refusal": refusal,
            "refused_id": sent.get("id"),
            "typed": sent.get("scheduled_at", ""),
        }
        return self.draw("scheduled.html", context, refusal.status if refusal else 200)

    def _find_saved(self, posts: list[ScheduledPost]) -> ScheduledPost | None:
        saved_id = self.request.GET.get("saved")
        return next((post for post in posts if post["id"] == saved_id), None)


class CancelScheduled(WebPage):
    """Asks, then cancels one. The question shows its text, which can be copied."""

    needs_viewer = True

    def get(self, request: HttpRequest, scheduled_id: str) -> HttpResponseBase:
        post = self.api.get(f"{SCHEDULED}/{scheduled_id}").body
        return self.draw("scheduled_cancel.html", {"post": post, "readers": READERS})

    def post(self, request: HttpRequest, scheduled_id: str) -> HttpResponseBase:
        try:
            self.api.send("DELETE", f"{SCHEDULED}/{scheduled_id}")
        except ApiRefused as refusal:
            return lead_back(refusal)
        return HttpResponseRedirect(PAGE, status=303)


def lead_back(refusal: ApiRefused) -> HttpResponseBase:
    """To the list, which says that a post was published before it was changed or cancelled.

    Raises: ApiRefused for all other refusals.
    """
    if refusal.status != NOT_FOUND:
        raise refusal
    return HttpResponseRedirect(f"{PAGE}?gone", status=303)
