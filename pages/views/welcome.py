"""The first pages of a new account: a name and a picture, tags, and people to follow."""

from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.directory import suggested_people
from pages.views.home import HOME
from pages.views.timelines import TREND_TAGS

MOST, MOST_TAGS, MOST_PREVIEWED = 5, 8, 5
# The steps in their order. The first one has no name in the address.
STEPS = {"": _("About you"), "tags": _("Tags"), "people": _("People")}


class WelcomePage(WebPage):
    """It can be read again at any time, and nothing on it must be done.

    `?step=`: a name of STEPS. If no tag trends, their step is left out.
    """

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        step = request.GET.get("step", "")
        tags = self.api.get(TREND_TAGS, {"limit": MOST_TAGS}).body
        steps = {name: title for name, title in STEPS.items() if tags or name != "tags"}
        if step not in steps:
            raise Http404
        context = {"step": step, "steps": steps, "next": _address_after(step, list(steps))}
        return self.draw("welcome.html", {**context, "tags": tags, **self._people(step)})

    def _people(self, step: str) -> dict[str, Any]:
        if step != "people":
            return {}
        home = self.api.get(HOME, {"limit": MOST_PREVIEWED}).body
        return {"people": suggested_people(self, MOST), "part": "person", "statuses": home}


def _address_after(step: str, steps: list[str]) -> str:
    """Of the next step; after the last one, that of the home page."""
    following = steps[steps.index(step) + 1 :]
    return f"/welcome?step={following[0]}" if following else "/"
