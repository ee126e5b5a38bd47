"""What every template of the pages may use."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.utils.functional import cached_property
from django.utils.timezone import get_current_timezone

from pages.appearance import appearance_of


class CsrfInput:
    """The hidden field that each form needs. All forms of a page have the same one, because it
    takes as long as a post. A page without a form makes none: it would set a cookie.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @cached_property
    def _html(self) -> str:
        return csrf_input(self._request)

    def __html__(self) -> str:
        return self._html


def page_context(request: HttpRequest) -> dict[str, Any]:
    """`site`: its name. `streams`: where the pages find the streaming process; empty: nowhere.
    `look`: what the person chose for this browser. `zone`: the time zone of this page."""
    return {
        "site": settings.INSTANCE_TITLE,
        "csrf_input": CsrfInput(request),
        "streams": settings.STREAMING_HTTP_URL,
        "look": appearance_of(request),
        "zone": str(get_current_timezone()),
    }
