"""Gives out access tokens outside the OAuth2 flows: at sign-up, and for commands."""

import secrets
from datetime import datetime, timedelta

from oauth2_provider.models import set_token_value
from oauth2_provider.settings import oauth2_settings

from accounts.models import AccessToken
from accounts.types import IssuedToken


def issue_token(user_id: int | None, application_id: int, scope: str, now: datetime) -> IssuedToken:
    """A new token of this user with this application. One insert on the default database."""
    lifetime = timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
    row = AccessToken(
        user_id=user_id, application_id=application_id, scope=scope, expires=now + lifetime
    )
    token = secrets.token_urlsafe(32)
    set_token_value(row, token)
    row.save(force_insert=True)
    return IssuedToken(token, scope, now)
