"""The access tokens of a user, as a list of browsers and applications."""

from accounts.models import AccessToken
from infra.api.ids import MOST_DIGITS
from infra.api.pages import Page

MOST = 50


def list_sessions(user_id: int, max_id: str = "") -> Page[AccessToken]:
    """Tokens with their applications, newest first. `max_id`: those before this one. One query."""
    rows = AccessToken.objects.filter(user_id=user_id).select_related("application")
    if max_id.isascii() and max_id.isdigit() and len(max_id) <= MOST_DIGITS:
        rows = rows.filter(pk__lt=int(max_id))
    tokens = list(rows.order_by("-pk")[: MOST + 1])
    older = str(tokens[MOST - 1].pk) if len(tokens) > MOST else None
    return Page(tokens[:MOST], older, None)
