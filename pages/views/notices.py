"""What the moderators decided about the viewer, with an appeal against each decision."""

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from moderation.types import effect_of
from pages.api_client import ApiRefused
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.timelines import cursors_of

STRIKES = "/api/v1/strikes"
UNPROCESSABLE = 422
STATES = {
    "pending": _("Your appeal is with the moderators."),
    "approved": _("Your appeal was accepted. The decision is undone."),
    "rejected": _("Your appeal was rejected. The decision stays."),
}
Notice = dict[str, Any]


class NoticesPage(WebPage):
    """The newest decision first."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw_notices()

    def draw_notices(self, fault: str = "", status: int = 200) -> HttpResponseBase:
        answer = self.api.get(STRIKES, cursors_of(self.request))
        notices = [_join(strike) for strike in answer.body]
        context = {"notices": notices, "older": answer.older, "fault": fault}
        return self.draw("notices.html", context, status)


class AppealDecision(NoticesPage):
    """Sends an appeal; possible once for each decision."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, strike_id: int) -> HttpResponseBase:
        sent = {"text": request.POST.get("text", "")}
        try:
            self.api.send("POST", f"{STRIKES}/{strike_id}/appeal", sent)
        except ApiRefused as refusal:
            if refusal.status != UNPROCESSABLE:
                raise
            return self.draw_notices(refusal.message, UNPROCESSABLE)
        return self.go_back("/notices")


def _join(strike: Notice) -> Notice:
    appeal = strike["appeal"]
    return {
        **strike,
        "is_over": _is_past(strike["ends_at"]),
        "effect": effect_of(strike["action"]),
        "state": STATES.get(appeal["state"], "") if appeal else "",
    }


def _is_past(moment: str | None) -> bool:
    return moment is not None and datetime.fromisoformat(moment) <= datetime.now(UTC)
