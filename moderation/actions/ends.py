"""The ends that decisions set: their checks and their rows. The caller holds the user's lock."""

from datetime import datetime

from accounts.errors import AccountPurged
from accounts.types import Restriction
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.errors import DeactivatedByProduct, DeletedByOwner, EndIsOver, EndsNever
from moderation.models import Decision, TimedRestriction
from moderation.queries.decisions import find_suspension
from moderation.queries.ends import Ends
from moderation.types import ADDED_RESTRICTIONS, TIMED_DECISIONS, DecisionKind


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
