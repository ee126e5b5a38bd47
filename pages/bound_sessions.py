"""Django's session, which the OAuth screens and the admin use, ends with the token of its browser.

Without this, a person who ends a browser in the settings would leave it its way to new tokens.
"""

from django.contrib.auth import get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import AccessToken

OF_TOKEN = "of_token"  # noqa: S105


class BoundSessions(AuthenticationMiddleware):
    """Sets `request.user`. Cost: one query by key more, on pages that ask who the user is."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _find_user(request))  # type: ignore[assignment]


def _find_user(request: HttpRequest) -> object:
    token_id = request.session.get(OF_TOKEN)
    if token_id is not None and not AccessToken.objects.filter(pk=token_id).exists():
        request.session.flush()
    return get_user(request)
