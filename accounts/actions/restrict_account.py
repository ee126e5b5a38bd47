"""Brings the account's row on its shard up to what its user is restricted to."""

from django.db import transaction

from accounts.changes import AccountRestricted
from accounts.types import RestrictionState
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

# The row is the owner's lock, so changing it first orders the changes of one account.
UPDATE = """
UPDATE accounts_account SET version = version + 1,
    restrictions = %s, restriction_revision = %s, suspended_at = %s
WHERE id = %s AND restriction_revision < %s
"""


def restrict_account(account_id: int, new: RestrictionState) -> bool:
    """Writes news of an account's restrictions; False when the row has them, or newer ones.

    All readers obey the row at their next read: the cached profile and the invalidation log
    follow by the change. Safety: idempotent; late news change nothing. Cost: two statements.
    """
    alias = shard_of(account_id)
    values = (int(new.restrictions), new.revision, new.suspended_at)
    with transaction.atomic(using=alias):
        if not execute(alias, UPDATE, (*values, account_id, new.revision)):
            return False
        append_change(alias, account_id, AccountRestricted())
        failpoint("accounts.before_restricted")
    return True
