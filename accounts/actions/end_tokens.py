"""Ends access tokens, with the refresh tokens that could replace them."""

from django.db.models import QuerySet
from oauth2_provider.models import revoke_access_token

from accounts.models import AccessToken, Application


def end_tokens_of_user(user_id: int) -> int:
    """Ends every token that speaks for this user; returns how many. See AccessToken.revoke."""
    return end_tokens(AccessToken.objects.filter(user_id=user_id))


def delete_application(application: Application) -> int:
    """Ends every token of the application, then deletes it; returns how many ended."""
    ended = end_tokens(AccessToken.objects.filter(application=application))
    application.delete()
    return ended


def end_tokens(tokens: QuerySet[AccessToken]) -> int:
    """Ends these tokens one by one, at about five statements each; returns how many."""
    ended = 0
    for token in tokens.iterator():
        revoke_access_token(token)
        ended += 1
    return ended
