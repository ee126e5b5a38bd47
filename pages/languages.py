"""The language of a page: that of the person, else of their browser, else of the site."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import override

from infra.languages import browser_language
from pages.appearance import appearance_of

# They speak English: operators read about them in logs and documents, which are English.
ENGLISH_PREFIXES = ("/admin", "/static/", "/api/", "/oauth/token", "/oauth/revoke")
Handler = Callable[[HttpRequest], HttpResponseBase]


class PageLanguage:
    """Answers a page in the language of its reader, and says so in its headers. Images have none.

    A cache between us and the reader must not give the page of one language to another reader.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(ENGLISH_PREFIXES):
            return self._get_response(request)
        language = language_of(request)
        with override(language):
            answer = self._get_response(request)
        if answer.get("Content-Type", "").startswith("image/"):
            return answer
        answer.setdefault("Content-Language", language)
        patch_vary_headers(answer, ("Accept-Language", "Cookie"))
        return answer


def language_of(request: HttpRequest) -> str:
    """A signed-in person's choice is in the cookie of how pages look (pages/appearance.py)."""
    accepted = request.headers.get("Accept-Language", "")
    chosen = appearance_of(request).language
    return chosen or browser_language(accepted) or settings.SITE_LANGUAGE
