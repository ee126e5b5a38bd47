"""A new e-mail address, after a mail to it has proved that the user reads it."""

from django.db import IntegrityError, transaction

from accounts.actions.check_new_user import taken_fault
from accounts.actions.lock_user import lock_user
from accounts.changes import EmailChanged
from accounts.errors import LinkEnded
from accounts.mails import proves_address
from accounts.models import User
from infra.api.errors import ValidationFailed
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS


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
