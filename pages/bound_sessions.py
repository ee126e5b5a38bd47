"""Django's session, which the OAuth screens and the admin use, ends with the token of its browser.

Without this, a person who ends a browser in the settings would leave it its way to new tokens. A
session without a token is in no list that the person could end: its requests are those of a guest.
"""

from django.contrib.auth import get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
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
    user = get_user(request)
    if user.is_anonymous or _has_token(request, user.pk):
        return user
    request.session.flush()
    return AnonymousUser()


def _has_token(request: HttpRequest, user_id: int) -> bool:
    token_id = request.session.get(OF_TOKEN)
    own = AccessToken.objects.filter(pk=token_id, user_id=user_id)
    return token_id is not None and own.exists()
