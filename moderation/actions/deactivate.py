"""A product deactivates an account of its own, and activates it again."""

from datetime import datetime

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.errors import LoginDisabled
from accounts.types import Restriction
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account
from moderation.queries.decisions import is_deactivated
from moderation.types import (
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
