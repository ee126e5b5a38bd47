"""The Content-Security-Policy of pages: scripts and styles from our own static files alone.

So nothing that gets into a page by mistake is run. `config/settings.py` places the middleware.
"""

from django.http import HttpRequest, HttpResponseBase

from config.cross_origin import Handler

# The one piece of style that Django's admin has in a page: of lists without actions. A test
# compares; a new version of Django may need another.
ADMIN_STYLE = "'sha256-blvLUW3UscWqsXGByNOqdBboM+ShWAuugp2mC/wbafU='"
PAGES = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {ADMIN_STYLE}",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
# Not for signing in: from there the browser is sent on to any application's address.
ADMIN = f"{PAGES}; form-action 'self'"


class ContentPolicy:
    """Adds the policy to what has none of its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_admin = request.path_info.startswith("/admin/")
        response.headers.setdefault("Content-Security-Policy", ADMIN if is_admin else PAGES)
        return response
