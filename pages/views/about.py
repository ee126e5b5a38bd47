"""What the people who run the site say about it. Open to everybody: links in clients lead here."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.site_texts.queries import get_site_description
from pages.views.base import WebPage


class SiteTextPage(WebPage):
    """`template`: about.html or privacy.html."""

    template = ""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw(self.template, {"texts": get_site_description()})
