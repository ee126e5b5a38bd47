"""The Content-Security-Policy of pages: scripts and styles come from our static files only.

The browser then runs no script that gets into a page by mistake. The Cross-Origin-Opener-Policy of
the pages to which applications send people is here too.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from web.cross_origin import Handler


def _origin_of(address: str) -> str:
    scheme, host, *_ = urlsplit(address)
    return f"{scheme}://{host}"


def _own_and_streams() -> str:
    """The streaming process may have an address of its own."""
    address = settings.STREAMING_HTTP_URL
    return f"'self' {_origin_of(address)}" if address else "'self'"


# The hash of the only inline style of Django's admin, on lists without actions. A test compares
# it, because a new version of Django may need another hash.
ADMIN_STYLE = "'sha256-blvLUW3UscWqsXGByNOqdBboM+ShWAuugp2mC/wbafU='"
PAGES = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {ADMIN_STYLE}",
        f"img-src 'self' data: {_origin_of(settings.MEDIA_URL)}",
        "font-src 'self'",
        f"connect-src {_own_and_streams()}",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
# Not on the way to an application: after signing in, the browser is redirected to its address.
OWN_FORMS = f"{PAGES}; form-action 'self'"
# The way to an application: it opens these pages in a window and waits for that window. With the
# policy of the other pages, the browser separates the two, and says that the window was closed.
FOR_APPLICATIONS = ("/oauth/", "/auth/")


class ContentPolicy:
    """Adds the policy to every answer that has no policy yet."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_for_application = request.path_info.startswith(FOR_APPLICATIONS)
        policy = PAGES if is_for_application else OWN_FORMS
        response.headers.setdefault("Content-Security-Policy", policy)
        if is_for_application:
            response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response
