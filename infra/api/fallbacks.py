"""What Django answers when no view did: JSON to API clients, its own pages to browsers."""

from collections.abc import Callable

import orjson
import structlog
from django.http import HttpRequest, HttpResponse
from django.views import defaults

from infra.api.errors import NotAllowed, NotFound
from infra.api.rendering import json_response

API_PREFIXES = ("/api/", "/oauth/token", "/oauth/revoke", "/health/")
Page = Callable[..., HttpResponse]
log = structlog.get_logger()


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400, "The request is malformed", defaults.bad_request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    text = NotAllowed.text
    return _answer(request, 403, text, defaults.permission_denied, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, NotFound.text, defaults.page_not_found, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    # Django calls this while it handles the error, and tells its own loggers only, which are mute.
    log.exception("request.failed", path=request.path)
    return _answer(request, 500, "Something went wrong on our side", defaults.server_error)


def _answer(
    request: HttpRequest, status: int, text: str, page: Page, *args: Exception
) -> HttpResponse:
    if request.path_info.startswith(API_PREFIXES):
        return json_response(orjson.dumps({"error": text}), status)
    return page(request, *args)
