"""Restrictions that end by themselves: the row of each end, and the act when it is due.

A row is written and deleted under the lock of the user, in the transaction of the decision.
"""

from datetime import datetime

import structlog
from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.errors import AccountNotFound
from accounts.types import Restriction
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account
from moderation.models import TimedRestriction
from moderation.types import TIME_IS_OVER, DecisionKind, DecisionOrigin

# Changes of the default database wait while restrictions end. The next run ends the others.
MOST_AT_ONCE = 50
ORIGIN = DecisionOrigin(None, TIME_IS_OVER)
log = structlog.get_logger()


def end_due_restrictions(now: datetime) -> int:
    """Ends the restrictions whose time is over, the oldest first. Returns how many.

    Safety: each ends once, also when several processes run this, or when one dies. A decision that
    moves the end in the same moment wins. Cost: one query by index; about ten statements each.
    """
    due = TimedRestriction.objects.filter(ends_at__lte=now).order_by("ends_at")
    rows = list(due.values_list("account_id", "restriction")[:MOST_AT_ONCE])
    return sum(_end(account_id, Restriction(restriction), now) for account_id, restriction in rows)


def _end(account_id: int, restriction: Restriction, now: datetime) -> bool:
    """False: another process ended it, or a moderator moved its end."""
    due = TimedRestriction.objects.filter(
        account_id=account_id, restriction=restriction, ends_at__lte=now
    )
    with transaction.atomic(using=GLOBAL_ALIAS):
        try:
            lock_user(account_id)
        except AccountNotFound:  # an operator deleted the user
            due.delete()
            return False
        if not due.exists():
            return False
        decide_on_account(account_id, DecisionKind.RESTORE, ORIGIN, now, lifted=restriction)
        due.delete()  # a purge has ended the restriction before
        failpoint("moderation.before_restriction_ended")
    log.info("restriction.ended", account=account_id, restriction=restriction.words)
    return True
