"""The avatar of an account that has no picture: its first letter on one of a few colours.

So a timeline of accounts without pictures can be read at a glance. The address says all that the
drawing needs, so it costs no query, and a browser may keep it for ever.
"""

from html import escape
from urllib.parse import quote

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from accounts.images.file_names import url_of_file
from accounts.types import Profile

# White letters can be read on each of them.
COLOURS = (
    "#0b6f85", "#9a4a12", "#6a4bb0", "#23703f", "#a8375a", "#2f5fae", "#7a5c00", "#8a3f9e",
    "#3d6470", "#b0402c", "#4f6b1d", "#405070",
)  # fmt: skip
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120">'
    '<rect width="120" height="120" fill="{colour}"/>'
    '<path d="M0 92c20-14 40-14 60 0s40 14 60 0v28H0z" fill="#fff" opacity=".16"/>'
    '<text x="60" y="60" dy=".34em" text-anchor="middle" fill="#fff" font-size="62"'
    ' font-weight="600" font-family="system-ui, sans-serif">{letter}</text></svg>'
)
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    # Web clients read the pixels of avatars. Not only with an Origin: the answer may be cached.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def default_avatar_address(account_id: int, username: str) -> str:
    colour, letter = account_id % len(COLOURS), quote(username[:1].upper())
    return f"{settings.PUBLIC_URL}/avatars/{colour}/{letter}.svg"


def avatar_address(profile: Profile) -> str:
    """Of the account's own picture; of the drawn one if it has none."""
    if profile.avatar:
        return url_of_file(profile.avatar)
    return default_avatar_address(profile.id, profile.username)


def draw_default_avatar(_request: HttpRequest, colour: int, letter: str) -> HttpResponse:
    """The drawing. Raises: Http404 if no account can have this one."""
    if colour >= len(COLOURS) or len(letter) != 1:
        raise Http404
    drawing = DRAWING.format(colour=COLOURS[colour], letter=escape(letter))
    return HttpResponse(drawing, content_type="image/svg+xml", headers=HEADERS)
