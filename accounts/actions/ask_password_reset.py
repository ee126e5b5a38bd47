"""Asks for a mail with a link to choose a new password. A consumer sends it."""

import time
from hashlib import sha256

from django.db import transaction

from accounts.changes import PasswordResetAsked
from accounts.models import User
from infra.caching.quotas import QuotaClaim, Quotas
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS

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
