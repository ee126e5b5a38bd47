"""The end of an account by the will of its owner."""

from datetime import datetime

from moderation.actions.decide import decide_on_account
from moderation.types import OWNER_DELETED, DecisionKind, DecisionOrigin


def delete_own_account(account_id: int, now: datetime) -> None:
    """Suspends the account, so no account sees it from now on and its owner cannot sign in.

    The purge deletes its data after SUSPENSION_DAYS. Until then moderators can restore it, for an
    owner who writes to them. Safety: may run twice. Raises, cost: as decide_on_account.
    """
    decide_on_account(account_id, DecisionKind.SUSPEND, DecisionOrigin(None, OWNER_DELETED), now)
