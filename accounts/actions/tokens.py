"""Issues access tokens outside the OAuth2 flows; ends tokens with their refresh tokens."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from oauth2_provider.models import revoke_access_token, set_token_value
from oauth2_provider.settings import oauth2_settings

from accounts.models import AccessToken, Application
from accounts.token_tags import generate_token
from accounts.types import IssuedToken


def issue_token(user_id: int | None, application_id: int, scope: str, now: datetime) -> IssuedToken:
    """A new token of this user for this application. One insert on the default database."""
    lifetime = timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
    row = AccessToken(
        user_id=user_id, application_id=application_id, scope=scope, expires=now + lifetime
    )
    token = generate_token()
    set_token_value(row, token)
    row.save(force_insert=True)
    return IssuedToken(token, scope, now)


def end_tokens_of_user(user_id: int) -> int:
    """Ends every token of this user; returns how many. See AccessToken.revoke."""
    return end_tokens(AccessToken.objects.filter(user_id=user_id))


def delete_application(application: Application) -> int:
    """Ends every token of the application, then deletes it; returns how many tokens."""
    ended = end_tokens(AccessToken.objects.filter(application=application))
    application.delete()
    return ended


def end_tokens(tokens: QuerySet[AccessToken]) -> int:
    """Ends these tokens one by one; returns how many. Cost: about five statements each."""
    ended = 0
    for token in tokens.iterator():
        revoke_access_token(token)
        ended += 1
    return ended
