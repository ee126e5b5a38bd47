"""/favicon.ico, which browsers ask for by themselves: the icon that our pages link to.

Not a redirect to it: static files are asked for anew after a minute, and an icon hardly changes.
"""

from pathlib import Path

from django.http import HttpRequest, HttpResponse

ICON = (Path(__file__).parent / "static/config/icon.svg").read_bytes()
CACHED_S = 7 * 86_400


def icon(_request: HttpRequest) -> HttpResponse:
    """Browsers that draw no SVG go without."""
    headers = {"Cache-Control": f"public, max-age={CACHED_S}"}
    return HttpResponse(ICON, content_type="image/svg+xml", headers=headers)
