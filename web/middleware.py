"""Two middlewares: request metrics, and the way around Django's own middlewares for the API.

The API is stateless. Sessions, CSRF, messages and static files would cost it much of a request.
"""

import time
from functools import cache
from typing import Any, cast

from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Histogram

from infra.api.no_endpoint import body_too_large
from infra.api.rendering import add_trusted_header
from infra.telemetry.gauges import Add, adder, observer
from infra.telemetry.request_ids import choose_request_id, enter_request, leave_request
from web.body_limits import most_body_bytes
from web.cross_origin import Handler, answer_cross_origin
from web.draining import is_draining
from web.paths import without_slash

# Not all of /api/: /api/docs is a page.
STATELESS_PREFIXES = (
    "/api/v1/", "/api/v2/", "/api/schema", "/health", "/metrics", "/.well-known/", "/nodeinfo/",
    "/media/", "/avatars/", "/oauth/userinfo",
)  # fmt: skip
_MOST_DIGITS = 18
LATENCY = Histogram(
    "tideline_request_seconds",
    "Wall time of requests, a histogram",
    ["route"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
RESPONSES = Counter("tideline_responses_total", "Answers", ["route", "status"])


class RequestMetrics:
    """Counts and times requests by route pattern, so the label has few values.

    It also gives each request an id: its X-Request-Id or a new one. The answer, the logs and the
    changes of the request have this id.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        request_id = choose_request_id(request.META.get("HTTP_X_REQUEST_ID"))
        before = enter_request((request_id,))
        try:
            response = self.get_response(request)
        finally:
            leave_request(before)
        add_trusted_header(response, "X-Request-Id", request_id)
        match = request.resolver_match
        route = match.route if match else "unknown"
        observe_latency, add_responses = _series(route, response.status_code)
        observe_latency(time.perf_counter() - started)
        add_responses(1)
        if is_draining():
            response["Connection"] = "close"
        return response


@cache
def _series(route: str, status: int) -> tuple[Add, Add]:
    """The library finds a series under a lock, so the few series are cached."""
    return observer(LATENCY.labels(route)), adder(RESPONSES.labels(route, status))


class StatelessRoutes:
    """Answers requests under STATELESS_PREFIXES without the middlewares that come after this one.

    Django itself runs those for all other requests, with all their hooks.
    """

    def __init__(self, get_response: Handler) -> None:
        self.page = get_response
        self.stateless = _handler_without_middleware()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.path_info = without_slash(request.path_info)
        request.path = without_slash(request.path)
        # Parsers of forms do not check it, and Django's has no limit for files in a form.
        length = request.META.get("CONTENT_LENGTH")
        if length and _is_too_long(length, most_body_bytes(request.path_info)):
            return body_too_large(request)
        is_stateless = request.path_info.startswith(STATELESS_PREFIXES)
        handler = self.stateless if is_stateless else self.page
        # Not a middleware of its own: every request would pay a call for a header that few have.
        if "HTTP_ORIGIN" in request.META:
            return answer_cross_origin(request, handler)
        return handler(request)


def _is_too_long(content_length: str, most: int) -> bool:
    """A length that is no number is refused too: Django would read no body."""
    if len(content_length) > _MOST_DIGITS or not content_length.isdigit():
        return True
    return int(content_length) > most


def _handler_without_middleware() -> Handler:
    """Django's handler: finds the route, calls the view, and turns errors into answers."""
    handler: Any = BaseHandler()
    handler._view_middleware = ()
    handler._template_response_middleware = ()
    handler._exception_middleware = ()
    handle: Any = convert_exception_to_response(handler._get_response)
    return cast(Handler, handle)
