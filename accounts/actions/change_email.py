"""A new e-mail address, after a mail to it has proved that the user reads it.

Asks for a mail with a link that proves that a user reads a new address. A consumer sends it.
"""

import time
from hashlib import sha256

from django.db import IntegrityError, transaction

from accounts.actions.change_password import HOUR_S, MAILS_PER_HOUR
from accounts.actions.check_new_user import email_faults, taken_fault
from accounts.actions.lock_user import lock_user
from accounts.changes import EmailChangeAsked, EmailChanged
from accounts.errors import LinkEnded
from accounts.mails import proves_address
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


def change_email(user_id: int, email: str, token: str) -> None:
    """Stores the address, and has a mail sent to the one before. `token`: of the mail's link.

    It also ends links for a new password in the old mailbox, because they count for one address.
    Raises: LinkEnded; ValidationFailed if another account has taken the address since the mail.
    Safety: one transaction, in which the link is checked; it works once. Cost: three statements.
    """
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            user = lock_user(user_id)
            if not proves_address(user, email, token):
                raise LinkEnded
            _store(user, email)
    except IntegrityError as error:
        fault = taken_fault(error)
        if fault is None:
            raise
        raise ValidationFailed([fault]) from error


def _store(user: User, email: str) -> None:
    before, user.email = user.email, email
    user.save(using=GLOBAL_ALIAS, update_fields=["email"])
    append_change(GLOBAL_ALIAS, user.pk, EmailChanged(before))
