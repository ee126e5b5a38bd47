"""Restricts an account, and lifts that: one transaction on the default database.

The account's row follows by the change, at once where its shard can be reached. Killed in between,
the user is locked out already, and the drain does the rest.
"""

from datetime import datetime

from django.db import connections

from accounts.actions.end_tokens import end_tokens_of_user
from accounts.changes import UserRestricted
from accounts.errors import AccountNotFound, AccountPurged
from accounts.models import User
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.changes.errors import NotInTransaction
from infra.sharding.placement import GLOBAL_ALIAS

_GOING = Restriction.PURGING | Restriction.PURGED


def lock_user(user_id: int) -> User:
    """The user's row, locked until the caller's transaction ends: what is done to one account has
    one order. Raises: AccountNotFound, NotInTransaction."""
    if not connections[GLOBAL_ALIAS].in_atomic_block:
        raise NotInTransaction("a lock needs a transaction to hold it")
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    if user is None:
        raise AccountNotFound
    return user


def restrict_user(user: User, wanted: Restriction, now: datetime) -> bool:
    """Makes these the restrictions of a locked user; False when they were so.

    Suspended, no log-in works from here on, and each token of theirs is refused with the reason.
    Once that is lifted they may log in again; the tokens they had end then, or with the purge.
    Raises: AccountPurged for what would bring a purged account back. Cost: two statements, and five
    for each token that ends.
    """
    held = Restriction(user.restrictions)
    if held & _GOING and not (wanted & _GOING and Restriction.SUSPENDED in wanted):
        raise AccountPurged
    if wanted == held:
        return False
    is_suspended = Restriction.SUSPENDED in wanted
    # Not before: a token that ended can no longer be told why.
    ends_tokens = not user.is_active and (not is_suspended or Restriction.PURGED in wanted)
    user.suspended_at = (user.suspended_at or now) if is_suspended else None
    user.restrictions, user.is_active = int(wanted), not is_suspended
    user.restriction_revision += 1
    user.save(
        using=GLOBAL_ALIAS,
        update_fields=["restrictions", "restriction_revision", "suspended_at", "is_active"],
    )
    append_change(GLOBAL_ALIAS, user.pk, UserRestricted())
    if ends_tokens:
        end_tokens_of_user(user.pk)
    return True
