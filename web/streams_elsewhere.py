"""/api/v1/streaming at an address of web servers, which have no streams.

A proxy gives these paths to the streaming process. Without one this tells clients where it is.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from infra.api import no_endpoint
from infra.api.answers import API_PREFIXES
from pages.views.missing import MissingPage
from web.paths import without_slash

_STREAMS = "/api/v1/streaming"
_NO_STREAMS = (
    "There are no streams at this address: a proxy must give /api/v1/streaming to the streaming"
    " process, or STREAMING_URL name it"
)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Of all paths without a route: those of streams are no routes of web servers. Programs get an
    answer of the API, people a page."""
    path = without_slash(request.path_info)
    if path == _STREAMS or path.startswith(f"{_STREAMS}/"):
        return _show_way(request)
    if request.path_info.startswith(API_PREFIXES):
        return no_endpoint.page_not_found(request, exception)
    return MissingPage.as_view()(request)


@require_safe
def _show_way(request: HttpRequest) -> HttpResponse:
    """A redirect, which no client of WebSocket follows: those get the address in words."""
    if not settings.STREAMING_URL or _is_here(request):
        response: HttpResponse = JsonResponse({"error": _NO_STREAMS}, status=404)
    elif request.headers.get("Upgrade", "").lower() == "websocket":
        address = f"{settings.STREAMING_URL}/api/v1/streaming"
        response = JsonResponse({"error": f"Connect to {address}: it has the streams"}, status=421)
    else:
        response = HttpResponse(status=307)
        response["Location"] = settings.STREAMING_HTTP_URL + request.get_full_path()
    response["Cache-Control"] = "no-store"
    return response


def _is_here(request: HttpRequest) -> bool:
    """A redirect would lead back to here."""
    address = urlsplit(settings.STREAMING_URL).netloc
    return address in (request.get_host(), urlsplit(settings.PUBLIC_URL).netloc)
