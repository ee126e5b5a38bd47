"""Restrictions that end by themselves: the row of each end, and the act when it is due.

A row is written and deleted under the lock of the user, in the transaction of the decision.

The ends that decisions set: their checks and their rows. The caller holds the user's lock.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
from django.db import connections, transaction
from django.db.models import Q

from accounts.actions.lock_user import lock_free_users
from accounts.actions.restrict import restrict_users
from accounts.errors import AccountPurged
from accounts.models import User
from accounts.types import Restriction
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.errors import DeactivatedByProduct, DeletedByOwner, EndIsOver, EndsNever
from moderation.models import Decision, TimedRestriction
from moderation.queries.decisions import Ends, find_suspension
from moderation.types import ADDED_RESTRICTIONS, TIME_IS_OVER, TIMED_DECISIONS, DecisionKind

# So many share a transaction: its statements cost as much as those of a single end.
MOST_AT_ONCE = 100
# Changes of the default database wait while restrictions end. The next run ends the others.
LONGEST_S = 2.0
Due = Sequence[TimedRestriction]
log = structlog.get_logger()


def end_due_restrictions(now: datetime, longest_s: float = LONGEST_S) -> int:
    """Ends the restrictions whose time is over, the oldest first. Returns how many.

    One that fails is logged, and the next run tries it again; it stops no other. Those of a user
    that another transaction holds wait for the next run, too. Raises: OperationalError,
    InterfaceError, if the database is away. Safety: each ends once, also when several processes run
    this, or when one dies. A decision that moves the end in the same moment wins. Cost: for
    MOST_AT_ONCE together one query by index and about ten statements, two on each shard, and five
    for each token that ends.
    """
    until_s, ended = time.monotonic() + longest_s, 0
    due = _list_due(now, None)
    while due:
        ended += _end_each(due, now, until_s)
        is_last = len(due) < MOST_AT_ONCE or time.monotonic() > until_s
        due = [] if is_last else _list_due(now, due[-1])
    return ended


def _list_due(now: datetime, after: TimedRestriction | None) -> Due:
    rows = TimedRestriction.objects.filter(ends_at__lte=now).order_by("ends_at", "pk")
    if after is not None:
        rows = rows.filter(ends_at__gte=after.ends_at).exclude(
            Q(ends_at=after.ends_at, pk__lte=after.pk)
        )
    return list(rows[:MOST_AT_ONCE])


def _end_each(due: Due, now: datetime, until_s: float) -> int:
    """Together; if that fails, each half alone, so that in the end only those that fail are left.
    Returns how many ended."""
    try:
        ended = _end_together(due, now)
    except Exception as error:
        if not connections[GLOBAL_ALIAS].is_usable():
            raise
        if len(due) == 1:
            _report(due[0], error)
            return 0
        half = len(due) // 2
        halves = (due[:half], due[half:])
        return sum(_end_each(h, now, until_s) for h in halves if time.monotonic() <= until_s)
    for row in ended:
        words = Restriction(row.restriction).words
        log.info("restriction.ended", account=row.account_id, restriction=words)
    return len(ended)


def _report(row: TimedRestriction, error: Exception) -> None:
    words = Restriction(row.restriction).words
    log.warning(
        "restriction.not_ended",
        account=row.account_id,
        restriction=words,
        error=str(error),
        exc_info=True,
    )


def _end_together(due: Due, now: datetime) -> Due:
    """All, or none if it raises. Returns those that were due under the lock: another process may
    have ended some, or a moderator moved their end."""
    account_ids = {row.account_id for row in due}
    with transaction.atomic(using=GLOBAL_ALIAS):
        users = lock_free_users(account_ids)
        _delete_of_missing(account_ids - users.keys())
        rows = TimedRestriction.objects.filter(pk__in=[row.pk for row in due], ends_at__lte=now)
        held = list(rows.filter(account_id__in=users).order_by("ends_at", "pk"))
        _lift(users, held, now)
        # Also those that a purge has ended before.
        TimedRestriction.objects.filter(pk__in=[row.pk for row in held]).delete()
        failpoint("moderation.before_restriction_ended")
    return held


def _delete_of_missing(account_ids: set[int]) -> None:
    """The rows of users that an operator deleted; no statement without accounts."""
    if account_ids:
        users = User.objects.using(GLOBAL_ALIAS).filter(pk__in=account_ids)
        gone = account_ids - set(users.values_list("pk", flat=True))
        TimedRestriction.objects.filter(account_id__in=gone).delete()


def _lift(users: Mapping[int, User], due: Due, now: datetime) -> None:
    """Writes a decision for each restriction, and the users without them."""
    left = {pk: Restriction(user.restrictions) for pk, user in users.items()}
    decisions = []
    for row in due:
        before = left[row.account_id]
        left[row.account_id] = after = before & ~Restriction(row.restriction)
        if after != before:
            decisions.append(_decision_of(row.account_id, after))
    Decision.objects.using(GLOBAL_ALIAS).bulk_create(decisions)
    restrict_users([(user, left[pk]) for pk, user in users.items()], now)


def _decision_of(account_id: int, left: Restriction) -> Decision:
    return Decision(
        kind=DecisionKind.RESTORE,
        actor_id=None,
        account_id=account_id,
        reason=TIME_IS_OVER,
        restrictions=int(left),
    )


def check_end(kind: DecisionKind | None, ends_at: datetime | None, now: datetime) -> None:
    """Raises: EndIsOver, EndsNever."""
    if ends_at is None:
        return
    if kind not in TIMED_DECISIONS:
        raise EndsNever
    if ends_at <= now:
        raise EndIsOver


def is_end_moved(
    before: Restriction, ends: Ends, kind: DecisionKind, ends_at: datetime | None
) -> bool:
    """Whether a restriction in force gets another end, or loses or gets one."""
    restriction = ADDED_RESTRICTIONS.get(kind, Restriction.NONE)
    return bool(before & restriction) and ends.get(restriction) != ends_at


def check_may_end(before: Restriction, kind: DecisionKind, account_id: int) -> None:
    """Raises: AccountPurged; DeletedByOwner or DeactivatedByProduct for a suspension that its
    owner or product wanted. One query, if the account is suspended.
    """
    if before & (Restriction.PURGING | Restriction.PURGED):
        raise AccountPurged
    if kind is not DecisionKind.SUSPEND or Restriction.SUSPENDED not in before:
        return
    last = find_suspension(account_id)
    if last is not None and last.is_of_owner:
        raise DeletedByOwner
    if last is not None and last.is_of_product:
        raise DeactivatedByProduct


def write_ends(decision: Decision, lifted: Restriction) -> None:
    """Writes or deletes the rows of the ends that this decision sets. At most two statements."""
    kind = DecisionKind(decision.kind)
    rows = TimedRestriction.objects.filter(account_id=decision.account_id)
    if kind is DecisionKind.RESTORE:
        rows.filter(restriction__in=[word.value for word in Restriction if word in lifted]).delete()
    elif kind in TIMED_DECISIONS and decision.ends_at is None:
        rows.filter(restriction=ADDED_RESTRICTIONS[kind]).delete()
    elif decision.ends_at is not None:
        TimedRestriction.objects.using(GLOBAL_ALIAS).update_or_create(
            account_id=decision.account_id,
            restriction=ADDED_RESTRICTIONS[kind],
            defaults={"ends_at": decision.ends_at, "decision": decision},
        )
