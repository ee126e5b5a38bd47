"""What the owner of an account, or the owner's product, does with it.

A product deactivates an account of its own, and activates it again.

The end of an account by the will of its owner.
"""

from datetime import datetime

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.changes import UserRestricted
from accounts.errors import LoginDisabled
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account, record_decision
from moderation.queries.decisions import is_deactivated, is_deleted_by_owner
from moderation.types import (
    OWNER_DELETED,
    PRODUCT_ACTIVATED,
    PRODUCT_DEACTIVATED,
    DecisionKind,
    DecisionOrigin,
)


def deactivate_account(account_id: int, now: datetime) -> None:
    """Suspends the account until the product activates it: nothing of it is purged.

    Safety: may run twice; killed, it did all or nothing. Raises: LoginDisabled for an account that
    moderators suspended or its owner deleted: the product's wish must not be what ends that.
    Cost: as decide_on_account, and two statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        if not _is_suspended(account_id):
            origin = DecisionOrigin(None, PRODUCT_DEACTIVATED)
            decide_on_account(account_id, DecisionKind.SUSPEND, origin, now)
        elif not is_deactivated(account_id):
            raise LoginDisabled


def activate_account(account_id: int, now: datetime) -> None:
    """Ends what `deactivate_account` began, and nothing else. Safety, cost: as there."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        if _is_suspended(account_id) and is_deactivated(account_id):
            origin, lifted = DecisionOrigin(None, PRODUCT_ACTIVATED), Restriction.SUSPENDED
            decide_on_account(account_id, DecisionKind.RESTORE, origin, now, lifted)


def _is_suspended(account_id: int) -> bool:
    """Under the lock of the user, which the caller's transaction holds to its end."""
    return Restriction.SUSPENDED in Restriction(lock_user(account_id).restrictions)


_PURGE_BEGUN = Restriction.PURGING | Restriction.PURGED


def delete_own_account(account_id: int, now: datetime) -> None:
    """Suspends the account, so no account sees it from now on and its owner cannot sign in.

    The purge deletes its data after SUSPENSION_DAYS. Until then moderators can restore it, for an
    owner who writes to them. An account that moderators suspended keeps the wish in the log, so
    neither an appeal nor an end brings it back. Safety: may run twice. Raises: as
    decide_on_account. Cost: as decide_on_account, and three statements if it was suspended before.
    """
    origin = DecisionOrigin(None, OWNER_DELETED)
    with transaction.atomic(using=GLOBAL_ALIAS):
        if decide_on_account(account_id, DecisionKind.SUSPEND, origin, now) is None:
            _record_wish(account_id, origin)


def _record_wish(account_id: int, origin: DecisionOrigin) -> None:
    """Of a suspended account. The caller's transaction has the lock of the user."""
    restrictions = Restriction(lock_user(account_id).restrictions)
    if restrictions & _PURGE_BEGUN or is_deleted_by_owner(account_id):
        return
    record_decision(DecisionKind.SUSPEND, origin, account_id, restrictions=int(restrictions))
    append_change(GLOBAL_ALIAS, account_id, UserRestricted(is_deleted=True))
