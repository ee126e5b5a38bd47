"""Restricts accounts, and lifts restrictions.

`restrict_user` writes the truth: the user's row on the default database, in one transaction. It
appends a change, whose consumer calls `restrict_accounts`. That copies the restrictions to the
account's row on its shard: inline if the shard can be reached. If the process is killed between the
two, the user is already locked out, and the drain does the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction

from accounts.actions.tokens import end_tokens, end_tokens_of_user
from accounts.changes import AccountRestricted, UserRestricted
from accounts.errors import AccountPurged
from accounts.images.actions.place_files import withhold_images_of_accounts
from accounts.models import AccessToken, User
from accounts.types import Restriction, RestrictionState
from infra.changes.append import append_change, append_changes
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

_PURGE_BEGUN = Restriction.PURGING | Restriction.PURGED
_FIELDS = ["restrictions", "restriction_revision", "suspended_at", "is_active"]
# The row is the owner's lock. Updating it first gives the changes of one account one order. Several
# are locked by id, so that two processes do not wait for each other.
UPDATE = """
WITH wanted AS (
    SELECT * FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[], %s::timestamptz[])
        AS wanted (id, restrictions, revision, suspended_at)
), locked AS MATERIALIZED (
    SELECT id FROM accounts_account WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE
)
UPDATE accounts_account AS account SET version = account.version + 1,
    restrictions = wanted.restrictions, restriction_revision = wanted.revision,
    suspended_at = wanted.suspended_at
FROM wanted JOIN locked USING (id)
WHERE account.id = wanted.id AND account.restriction_revision < wanted.revision
RETURNING account.id
"""


def restrict_user(
    user: User,
    wanted: Restriction,
    now: datetime,
    begins_again: bool = False,
    is_deleted: bool = False,
) -> bool:
    """Sets the restrictions of a locked user; False if they were already set.

    `begins_again`: a suspension in force counts from now on. `is_deleted`: as UserRestricted.

    A suspended user cannot sign in, and their tokens are refused with the reason. The tokens end
    when the suspension is lifted or the account is purged: an ended token could not give a reason.
    Raises: AccountPurged if this would bring a purged account back. Cost: two statements, and five
    for each token that ends.
    """
    if not _is_change(user, wanted) and not begins_again:
        return False
    ends_tokens = _set(user, wanted, now, begins_again)
    user.save(using=GLOBAL_ALIAS, update_fields=_FIELDS)
    append_change(GLOBAL_ALIAS, user.pk, UserRestricted(is_deleted))
    if ends_tokens:
        end_tokens_of_user(user.pk)
    return True


def restrict_users(wanted: Sequence[tuple[User, Restriction]], now: datetime) -> None:
    """As `restrict_user`, for several locked users: all, or none. Each comes once.

    Cost: three statements, and five for each token that ends.
    """
    changed = [(user, new) for user, new in wanted if _is_change(user, new)]
    if not changed:
        return
    signed_out = [user.pk for user, new in changed if _set(user, new, now)]
    users = [user for user, _ in changed]
    User.objects.using(GLOBAL_ALIAS).bulk_update(users, _FIELDS)
    append_changes(GLOBAL_ALIAS, [(user.pk, UserRestricted()) for user in users])
    if signed_out:
        end_tokens(AccessToken.objects.filter(user_id__in=signed_out))


def restrict_accounts(
    alias: str, states: Mapping[int, RestrictionState], deleted: Collection[int] = ()
) -> set[int]:
    """Copies restrictions to the rows of accounts of one shard. Returns the accounts whose row had
    older ones. `deleted`: those of them that were deleted.

    All readers obey the row at their next read. The cached profile follows by the change. Safety:
    idempotent, and an old state changes nothing. Cost: three statements.
    """
    ids = sorted(states)
    new = [states[account_id] for account_id in ids]
    columns = [int(s.restrictions) for s in new], [s.revision for s in new]
    with transaction.atomic(using=alias):
        since = [s.suspended_at for s in new]
        changed = [row[0] for row in fetch_all(alias, UPDATE, (ids, *columns, since, ids))]
        if changed:
            is_suspended = [(i, Restriction.SUSPENDED in states[i].restrictions) for i in changed]
            withhold_images_of_accounts(alias, is_suspended)
            append_changes(alias, [(i, AccountRestricted(i in deleted)) for i in changed])
            failpoint("accounts.before_restricted")
    return set(changed)


def _is_change(user: User, wanted: Restriction) -> bool:
    """Raises: AccountPurged."""
    before = Restriction(user.restrictions)
    if before & _PURGE_BEGUN and not (wanted & _PURGE_BEGUN and Restriction.SUSPENDED in wanted):
        raise AccountPurged
    return wanted != before


def _set(user: User, wanted: Restriction, now: datetime, begins_again: bool = False) -> bool:
    """Whether the user's tokens end."""
    is_suspended = Restriction.SUSPENDED in wanted
    ends_tokens = not user.is_active and (not is_suspended or Restriction.PURGED in wanted)
    since = now if begins_again else user.suspended_at or now
    user.suspended_at = since if is_suspended else None
    user.restrictions, user.is_active = int(wanted), not is_suspended
    user.restriction_revision += 1
    return ends_tokens
