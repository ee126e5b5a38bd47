"""The first page of a new account: a name, a picture, and people to follow."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.views.base import WebPage
from pages.views.directory import suggested_accounts
from pages.views.people import load_people

MOST = 12


class WelcomePage(WebPage):
    """It can be read again at any time, and nothing on it must be done."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        people = load_people(self, suggested_accounts(self, MOST))
        return self.draw("welcome.html", {"people": people, "part": "person"})
