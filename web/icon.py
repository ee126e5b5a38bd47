"""/favicon.ico, which browsers request by themselves: the icon of all pages.

It is no redirect to the static file: browsers request static files again after a minute.
"""

from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse

ICON = "web/icon.svg"
CACHED_S = 7 * 86_400


def favicon(_request: HttpRequest) -> HttpResponse:
    """The icon as SVG. A browser that cannot draw SVG shows no icon."""
    headers = {"Cache-Control": f"public, max-age={CACHED_S}"}
    return HttpResponse(_icon(), content_type="image/svg+xml", headers=headers)


@cache
def _icon() -> bytes:
    """That of the theme, if it has one."""
    return Path(str(finders.find(ICON))).read_bytes()
