"""The one place where errors become HTTP answers: `{"error": …}` and a status code.

`answer_error` is for errors in endpoints. The handlers at the end are for errors outside of them:
Django calls them, and they answer JSON to API clients and Django's own pages to browsers.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render
from django.views import defaults
from redis.exceptions import RedisError
from rest_framework import exceptions

from infra.api.errors import NotAllowed, NotFound, TidelineError, TokenInvalid
from infra.api.rendering import NO_STORE, json_response
from infra.store_states import state_of

API_PREFIXES = (
    "/api/", "/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/health", "/.well-known/",
    "/nodeinfo/",
)  # fmt: skip
UNAVAILABLE = "Temporarily unavailable, try again"
log = structlog.get_logger()


def answer_error(error: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's exception handler. None for an unexpected error.

    A database or a Redis that does not answer is 503 with Retry-After, never 500.
    """
    match error:
        case TidelineError():
            return json_response(orjson.dumps(error.body()), error.status, error.headers)
        case Http404():
            return _answer(404, NotFound.text)
        case PermissionDenied():
            return _answer(403, NotAllowed.text)
        case exceptions.APIException():
            return _answer(error.status_code, _text_of(error), _headers_of(error))
        case RequestDataTooBig():
            return _answer(413, "The request is too large")
        case SuspiciousOperation() | UnreadablePostError():
            return _answer(400, "The request is malformed")
        case OperationalError() | InterfaceError() | RedisError():
            return _answer_unavailable(error)
    return None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer_client(request, 400, "The request is malformed", defaults.bad_request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    text = NotAllowed.text
    return _answer_client(request, 403, text, defaults.permission_denied, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 without a store. Django calls it while it handles the error."""
    error = sys.exception()
    if isinstance(error, OperationalError | InterfaceError | RedisError):
        answer = _answer_unavailable(error)
        if request.path_info.startswith(API_PREFIXES):
            return answer
        return _draw_unavailable(request, answer)
    # Django's own loggers are silent here.
    log.exception("request.failed", path=request.path)
    return _answer_client(request, 500, "Something went wrong on our side", defaults.server_error)


def _answer_unavailable(error: Exception) -> HttpResponse:
    log.error("request.database_unavailable", state=state_of(error).label, error=str(error))
    return _answer(503, UNAVAILABLE, {"Retry-After": "2"})


def _draw_unavailable(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """A page that needs no database."""
    page = render(request, "503.html", status=answer.status_code)
    for name, value in {**NO_STORE, "Retry-After": answer["Retry-After"]}.items():
        page[name] = value
    return page


def _answer_client(
    request: HttpRequest,
    status: int,
    text: str,
    page: Callable[..., HttpResponse],
    *args: Exception,
) -> HttpResponse:
    if request.path_info.startswith(API_PREFIXES):
        return json_response(orjson.dumps({"error": text}), status)
    return page(request, *args)


def _answer(status: int, text: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return json_response(orjson.dumps({"error": text}), status, headers)


def _text_of(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return TokenInvalid.text
    detail = error.detail
    return str(detail) if isinstance(detail, str) else "; ".join(_flatten(detail))


def _flatten(detail: Any) -> list[str]:
    if isinstance(detail, dict):
        return [f"{name}: {text}" for name, value in detail.items() for text in _flatten(value)]
    if isinstance(detail, list):
        return [text for value in detail for text in _flatten(value)]
    return [str(detail)]


def _headers_of(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(challenge)
    if wait_s := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait_s))
    return headers
