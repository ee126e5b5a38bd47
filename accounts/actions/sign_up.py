"""Sign-up: one transaction on the default database; the account row follows on its shard.

A crash between the two leaves a user without an account row, and a change: the drain creates the
row. A shard that is down delays the account, not the sign-up.
"""

from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from accounts.actions.check_new_user import new_user_faults, taken_fault
from accounts.actions.tokens import issue_token
from accounts.changes import UserCreated
from accounts.models import AccessToken, User
from accounts.scopes import OF_SERVICES
from accounts.types import IssuedToken, NewUser
from infra.api.errors import NotAllowed, TokenInvalid, ValidationFailed
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS


def sign_up(new: NewUser, now: datetime) -> int:
    """Creates the user and returns their account id. Raises ValidationFailed.

    Cost: the slow password hash; seven statements, one of them on the shard.
    """
    user = _user_of(new, now)
    faults = new_user_faults(new, user)
    if faults:
        raise ValidationFailed(faults)
    user.password = make_password(new.password)
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            user.save(force_insert=True)
            append_change(GLOBAL_ALIAS, user.pk, _created(user, new, now))
    except IntegrityError as error:
        raise _refusal(error) from error
    return user.pk


def sign_up_with_token(new: NewUser, app_token_id: int, now: datetime) -> IssuedToken:
    """Signs up, and issues a token with the scopes of the application's own token.

    One transaction for both: a user without the token could not sign up again.
    Raises: ValidationFailed; TokenInvalid if the application's token has just ended; NotAllowed
    for a service: no user's token may have the scopes of services.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        app_token = AccessToken.objects.filter(pk=app_token_id).first()
        if app_token is None or app_token.application_id is None:
            raise TokenInvalid
        if not OF_SERVICES.keys().isdisjoint(app_token.scope.split()):
            raise NotAllowed("A service creates accounts at /api/v1/services/accounts")
        account_id = sign_up(new, now)
        return issue_token(account_id, app_token.application_id, app_token.scope, now)


def _created(user: User, new: NewUser, now: datetime) -> UserCreated:
    return UserCreated(user.username, new.display_name, now, service_object=new.service_object)


def _user_of(new: NewUser, now: datetime) -> User:
    return User(
        username=new.username.lower(),
        email=new.email,
        date_joined=now,
        language=new.language,
        is_staff=new.is_superuser,
        is_superuser=new.is_superuser,
    )


def _refusal(error: IntegrityError) -> Exception:
    fault = taken_fault(error)
    return ValidationFailed([fault]) if fault else error
