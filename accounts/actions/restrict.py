"""Restricts accounts, and lifts restrictions.

`restrict_user` writes the truth: the user's row on the default database, in one transaction. It
appends a change, whose consumer calls `restrict_account`. That copies the restrictions to the
account's row on its shard: inline if the shard can be reached. If the process is killed between the
two, the user is already locked out, and the drain does the rest.
"""

from datetime import datetime

from django.db import transaction

from accounts.actions.tokens import end_tokens_of_user
from accounts.changes import AccountRestricted, UserRestricted
from accounts.errors import AccountPurged
from accounts.models import User
from accounts.types import Restriction, RestrictionState
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

_PURGE_BEGUN = Restriction.PURGING | Restriction.PURGED
# The row is the owner's lock. Updating it first gives the changes of one account one order.
UPDATE = """
UPDATE accounts_account SET version = version + 1,
    restrictions = %s, restriction_revision = %s, suspended_at = %s
WHERE id = %s AND restriction_revision < %s
"""


def restrict_user(
    user: User, wanted: Restriction, now: datetime, begins_again: bool = False
) -> bool:
    """Sets the restrictions of a locked user; False if they were already set.

    `begins_again`: a suspension in force counts from now on.

    A suspended user cannot sign in, and their tokens are refused with the reason. The tokens end
    when the suspension is lifted or the account is purged: an ended token could not give a reason.
    Raises: AccountPurged if this would bring a purged account back. Cost: two statements, and five
    for each token that ends.
    """
    before = Restriction(user.restrictions)
    if before & _PURGE_BEGUN and not (wanted & _PURGE_BEGUN and Restriction.SUSPENDED in wanted):
        raise AccountPurged
    if wanted == before and not begins_again:
        return False
    is_suspended = Restriction.SUSPENDED in wanted
    ends_tokens = not user.is_active and (not is_suspended or Restriction.PURGED in wanted)
    since = now if begins_again else user.suspended_at or now
    user.suspended_at = since if is_suspended else None
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


def restrict_account(account_id: int, new: RestrictionState) -> bool:
    """Copies restrictions to the account's row; False if the row has the same or newer ones.

    All readers obey the row at their next read. The cached profile follows by the change. Safety:
    idempotent, and an old state changes nothing. Cost: two statements.
    """
    alias = shard_of(account_id)
    values = (int(new.restrictions), new.revision, new.suspended_at)
    with transaction.atomic(using=alias):
        if not execute(alias, UPDATE, (*values, account_id, new.revision)):
            return False
        append_change(alias, account_id, AccountRestricted())
        failpoint("accounts.before_restricted")
    return True
