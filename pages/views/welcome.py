"""The first page of a new account: a name, a picture, and people and tags to follow."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.views.base import WebPage
from pages.views.directory import suggested_people
from pages.views.explore import TAGS

MOST, MOST_TAGS = 12, 8


class WelcomePage(WebPage):
    """It can be read again at any time, and nothing on it must be done."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        people = suggested_people(self, MOST)
        tags = self.api.get(TAGS, {"limit": MOST_TAGS}).body
        return self.draw("welcome.html", {"people": people, "part": "person", "tags": tags})
