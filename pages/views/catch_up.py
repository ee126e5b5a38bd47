"""Catch-up: what arrived at home since the reader stopped, by author, with an end."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import WebPage

PATH = "/api/v1/timelines/home/catch_up"
FILTERS = {"exclude_replies": _("Without replies"), "exclude_reblogs": _("Without reposts")}
PARAMETERS = (*FILTERS, "bound", "after_id")


class ReadCatchUp(WebPage):
    """Reads it page by page; POST says that the reader is done."""

    filter_place = "home"
    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        query = {name: request.GET[name] for name in PARAMETERS if request.GET.get(name)}
        answer = self.api.get(PATH, query)
        context = {
            "caught": answer.body,
            "older": answer.older,
            "is_first": "after_id" not in query,
            "has_filters": any(name in query for name in FILTERS),
            "filters": [(name, label, name in query) for name, label in FILTERS.items()],
        }
        return self.draw("catch_up.html", context)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        self.api.send("POST", PATH, {"bound": request.POST.get("bound", "")})
        return self.go_back("/")
