"""Asks for a mail with a link that proves that a user reads a new address. A consumer sends it."""

import time
from hashlib import sha256

from django.db import transaction

from accounts.actions.ask_password_reset import HOUR_S, MAILS_PER_HOUR
from accounts.actions.check_new_user import email_faults
from accounts.changes import EmailChangeAsked
from accounts.models import User
from infra.api.errors import ValidationFailed
from infra.caching.quotas import QuotaClaim, Quotas
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS

_quotas = Quotas(HOUR_S)


def ask_email_change(user: User, email: str) -> None:
    """Has a mail sent to the new address. The user keeps the present one until the link is opened.

    The caller cannot see whether another account has the address: the consumer looks that up. More
    than MAILS_PER_HOUR of one user, or to one address, are not sent. Raises: ValidationFailed for a
    text that is no address, and for the present address. Cost: a round trip, one statement.
    """
    faults = email_faults(email, user)
    if faults:
        raise ValidationFailed(faults)
    mailbox = sha256(email.lower().encode()).hexdigest()
    subjects = f"address-mail-of-{user.pk}", f"address-mail-{mailbox}"
    claims = [QuotaClaim(subject, MAILS_PER_HOUR) for subject in subjects]
    if not _quotas.use(claims, time.time()).is_granted:
        return
    with transaction.atomic(using=GLOBAL_ALIAS):
        append_change(GLOBAL_ALIAS, user.pk, EmailChangeAsked(email))
