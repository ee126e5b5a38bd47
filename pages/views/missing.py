"""A path that no route has: people get a page in their own frame."""

from typing import NoReturn

from django.http import Http404, HttpRequest

from pages.views.base import WebPage


class MissingPage(WebPage):
    """There is no such page, by any method."""

    def get(self, request: HttpRequest) -> NoReturn:
        raise Http404

    post = put = patch = delete = get
