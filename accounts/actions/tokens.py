"""Issues access tokens outside the OAuth2 flows; ends tokens with their refresh tokens.

A user has at most MAX_SESSIONS tokens: another one ends the oldest.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from oauth2_provider.models import get_grant_model, revoke_access_token, set_token_value
from oauth2_provider.settings import oauth2_settings

from accounts.actions.lock_user import lock_user
from accounts.models import AccessToken, Application
from accounts.token_tags import generate_named_token, generate_unnamed_token
from accounts.types import IssuedToken
from infra.sharding.placement import GLOBAL_ALIAS

# Browsers and applications that one account is signed in to.
MAX_SESSIONS = 100


def issue_token(
    user_id: int | None,
    application_id: int,
    scope: str,
    now: datetime,
    lifetime: timedelta | None = None,
) -> IssuedToken:
    """A new token of this user for this application. `user_id` None: the application's own.
    `lifetime` None: a year.

    One transaction on the default database: a lock, an insert, and a look at the user's tokens.
    Raises: AccountNotFound.
    """
    lifetime = lifetime or timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
    row = AccessToken(
        user_id=user_id, application_id=application_id, scope=scope, expires=now + lifetime
    )
    token = (
        generate_unnamed_token()
        if user_id is None
        else generate_named_token(user_id, application_id, scope)
    )
    set_token_value(row, token)
    with transaction.atomic(using=GLOBAL_ALIAS):
        if user_id is not None:
            lock_user(user_id)
        row.save(force_insert=True)
        end_oldest_tokens(user_id)
    return IssuedToken(row.pk, token, scope, now)


def end_oldest_tokens(user_id: int | None) -> None:
    """Ends what a user has above MAX_SESSIONS tokens. Call it after a token is issued, under the
    user's lock: two callers at once would both leave one too many. Cost: one query.
    """
    if user_id is None:
        return
    own = AccessToken.objects.filter(user_id=user_id)
    newest = own.order_by("-pk").values_list("pk", flat=True)[: MAX_SESSIONS + 1]
    if len(kept := list(newest)) > MAX_SESSIONS:
        end_tokens(own.filter(pk__lte=kept[-1]))


def end_oldest_of_application(user_id: int, application_id: int, most: int) -> None:
    """Ends what a user has above `most` tokens of one application. Call it under the user's lock.

    Cost: one query; five statements for each token that ends.
    """
    own = AccessToken.objects.filter(user_id=user_id, application_id=application_id)
    newest = list(own.order_by("-pk").values_list("pk", flat=True)[: most + 1])
    if len(newest) > most:
        end_tokens(own.filter(pk__lte=newest[-1]))


def delete_expired_tokens(user_id: int, application_id: int, now: datetime) -> None:
    """Deletes what an application with short tokens leaves. They give no access. One statement."""
    AccessToken.objects.filter(
        user_id=user_id, application_id=application_id, expires__lt=now
    ).delete()


def end_tokens_of_user(user_id: int) -> int:
    """Ends every token of this user; returns how many. See AccessToken.revoke."""
    return end_tokens(AccessToken.objects.filter(user_id=user_id))


def end_other_tokens(user_id: int, kept_id: int) -> None:
    """Ends all tokens of this user but one, and the codes that would become tokens.

    One transaction, under the user's lock: an exchange of a code that has begun ends before it, or
    finds no code. Raises: AccountNotFound. Cost: three statements, and five for each token.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user_id)
        get_grant_model().objects.filter(user_id=user_id).delete()
        end_tokens(AccessToken.objects.filter(user_id=user_id).exclude(pk=kept_id))


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
