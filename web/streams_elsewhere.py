"""/api/v1/streaming at an address of web servers, which have no streams.

A proxy gives these paths to the streaming process. Without one this tells clients where it is.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from infra.api import no_endpoint
from web.paths import without_slash

_STREAMS = "/api/v1/streaming"
_NO_STREAMS = (
    "There are no streams at this address: a proxy must give /api/v1/streaming to the streaming"
    " process, or STREAMING_URL name it"
)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Of all paths without a route: those of streams are no routes of web servers."""
    path = without_slash(request.path_info)
    if path == _STREAMS or path.startswith(f"{_STREAMS}/"):
        return _show_way(request)
    return no_endpoint.page_not_found(request, exception)


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
