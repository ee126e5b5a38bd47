"""What every template of the pages may use."""

import secrets
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH, get_token
from django.utils.functional import cached_property

from pages.appearance import appearance_of, page_zone

_CHARACTERS = CSRF_ALLOWED_CHARS
_PLACES = {character: place for place, character in enumerate(_CHARACTERS)}


class CsrfInput:
    """The hidden field that each form needs. All forms of a page have the same one, because it
    takes as long as a post. A page without a form makes none: it would set a cookie.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @cached_property
    def _html(self) -> str:
        token = csrf_token(self._request)
        return f'<input type="hidden" name="csrfmiddlewaretoken" value="{token}">'

    def __html__(self) -> str:
        return self._html


def csrf_token(request: HttpRequest) -> str:
    """As Django's, which asks the system for the mask of each character, a tenth of a page."""
    secret = request.META.get("CSRF_COOKIE")
    if secret is None:
        return get_token(request)  # it makes a secret, and a cookie
    request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True  # the cookie lasts longer
    count = len(CSRF_ALLOWED_CHARS)
    mask = [n % count for n in memoryview(secrets.token_bytes(2 * CSRF_SECRET_LENGTH)).cast("H")]
    masked = [(_PLACES[letter] + n) % count for letter, n in zip(secret, mask, strict=True)]
    return "".join([CSRF_ALLOWED_CHARS[place] for place in (*mask, *masked)])


def page_context(request: HttpRequest) -> dict[str, Any]:
    """`site`: its name. `streams`: where the pages find the streaming process; empty: nowhere.
    `look`: what the person chose for this browser. `zone`: the time zone of this page."""
    return {
        "site": settings.INSTANCE_TITLE,
        "csrf_input": CsrfInput(request),
        "streams": settings.STREAMING_HTTP_URL,
        "look": appearance_of(request),
        "zone": str(page_zone()),
    }
