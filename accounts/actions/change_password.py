"""A new password. It ends everything that was begun with the old one.

Asks for a mail with a link to choose a new password. A consumer sends it.
"""

import time
from hashlib import sha256

from django.contrib.auth.hashers import make_password
from django.db import transaction
from oauth2_provider.models import get_grant_model

from accounts.actions.check_new_user import password_faults
from accounts.actions.lock_user import lock_user
from accounts.actions.tokens import end_tokens_of_user
from accounts.changes import PasswordResetAsked
from accounts.errors import PasswordReplaced
from accounts.models import RefreshToken, User
from infra.api.errors import ValidationFailed
from infra.caching.quotas import QuotaClaim, Quotas
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS


def change_password(user: User, password: str) -> None:
    """Stores the password, and ends all tokens, codes and sessions of the user.

    `user`: as read when the person proved to be it, by the present password or by a link. Of two
    changes at the same moment only one is made. The sessions of Django end because they have a
    checksum of the old password.

    Raises: ValidationFailed with the faults of a sign-up, PasswordReplaced. Safety: one
    transaction. Cost: the slow password hash, four statements, and five for each token.
    """
    faults = password_faults(password, user)
    if faults:
        raise ValidationFailed(faults)
    encoded = make_password(password)
    with transaction.atomic(using=GLOBAL_ALIAS):
        locked = lock_user(user.pk)
        if locked.password != user.password:
            raise PasswordReplaced
        locked.password = encoded
        locked.save(using=GLOBAL_ALIAS, update_fields=["password"])
        end_sign_ins(user.pk)
    user.password = encoded


def end_sign_ins(user_id: int) -> None:
    """Ends all codes and tokens of a user whose password changes. Call it under the user's lock.

    Cost: three statements, and five for each token.
    """
    get_grant_model().objects.filter(user_id=user_id).delete()
    end_tokens_of_user(user_id)
    # A refresh token can outlive its access token.
    for token in RefreshToken.objects.filter(user_id=user_id, revoked__isnull=True):
        token.revoke()


HOUR_S = 3_600
MAILS_PER_HOUR = 5
NO_USER = 0
_quotas = Quotas(HOUR_S)


def ask_password_reset(name: str) -> None:
    """Has a mail sent to the user who signs in with this name or address, if there is one.

    The caller cannot see whether there is: the same statements run, and the mail is sent later.
    More than MAILS_PER_HOUR for one name are not sent. Cost: a round trip, two statements.
    """
    subject = sha256(name.lower().encode()).hexdigest()
    claim = QuotaClaim(f"reset-mail-{subject}", MAILS_PER_HOUR)
    if not _quotas.use([claim], time.time()).is_granted:
        return
    try:
        user_id = User.objects.get_by_natural_key(name).pk
    except User.DoesNotExist:
        user_id = NO_USER
    with transaction.atomic(using=GLOBAL_ALIAS):
        append_change(GLOBAL_ALIAS, user_id, PasswordResetAsked())
