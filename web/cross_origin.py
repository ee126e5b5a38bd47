"""Cross-origin requests (CORS): pages of any site may call the API, with a token, never a cookie.

As Mastodon does it (config/initializers/cors.rb). Nothing else is open: pages, admin, metrics.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase]

OPEN_PREFIXES = (
    "/api/", "/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/.well-known/", "/nodeinfo/",
)  # fmt: skip
_METHODS = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
# The headers that a script may read.
_EXPOSED = (
    "ETag, Link, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset,"
    " X-Request-Id, X-Undo"
)
# How long a browser may cache the preflight; Chromium allows two hours.
_PREFLIGHT_S = "7200"


def answer_cross_origin(request: HttpRequest, handler: Handler) -> HttpResponseBase:
    """The answer to a request with an Origin header; scripts may read answers of the API.

    Without `Allow-Credentials` browsers send no cookies, so a script cannot use a session.
    """
    if not request.path_info.startswith(OPEN_PREFIXES):
        return handler(request)
    is_preflight = request.method == "OPTIONS" and (
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META
    )
    response = _preflight(request) if is_preflight else handler(request)
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = _EXPOSED
    return response


def _preflight(request: HttpRequest) -> HttpResponse:
    """Browsers ask this before a script may send a token. No quota counts it."""
    wanted = request.headers.get("Access-Control-Request-Headers", "")
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": wanted,
            "Access-Control-Max-Age": _PREFLIGHT_S,
            "Vary": "Access-Control-Request-Headers",
        },
    )
