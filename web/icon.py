"""/favicon.ico, which browsers request by themselves: the icon of all pages.

It is no redirect to the static file: browsers request static files again after a minute.
"""

from pathlib import Path

from django.http import HttpRequest, HttpResponse

ICON = (Path(__file__).parent / "static/web/icon.svg").read_bytes()
CACHED_S = 7 * 86_400


def favicon(_request: HttpRequest) -> HttpResponse:
    """The icon as SVG. A browser that cannot draw SVG shows no icon."""
    headers = {"Cache-Control": f"public, max-age={CACHED_S}"}
    return HttpResponse(ICON, content_type="image/svg+xml", headers=headers)
