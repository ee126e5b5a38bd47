"""Appeals against decisions: accounts file them, moderators decide on them."""

from datetime import datetime

from django.db import IntegrityError, transaction

from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import record_decision
from moderation.actions.undo import undo_decision
from moderation.errors import AlreadyAppealed, AppealDecided, StrikeNotFound
from moderation.models import Appeal, Decision
from moderation.queries.decisions import strikes_against
from moderation.types import AppealState, DecisionKind, DecisionOrigin


def file_appeal(account_id: int, decision_id: int, text: str) -> Appeal:
    """Files an appeal against a decision on this account, or on one of its posts or images.

    Raises: StrikeNotFound, AlreadyAppealed.
    """
    decision = strikes_against(account_id).filter(pk=decision_id).first()
    if decision is None:
        raise StrikeNotFound
    appeal = Appeal(decision=decision, text=text)
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            appeal.save(using=GLOBAL_ALIAS, force_insert=True)
    except IntegrityError:
        raise AlreadyAppealed from None
    return appeal


def accept_appeal(appeal_id: int, origin: DecisionOrigin, now: datetime) -> None:
    """Accepts an appeal and undoes its decision, in one transaction. Deleted posts stay deleted.

    Raises: AppealDecided, and the errors of the function that decides. Cost: three
    statements, and those of the decision that undoes the first one.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        decision = _close(appeal_id, AppealState.ACCEPTED, DecisionKind.ACCEPT, origin, now)
        undo_decision(decision, origin, now)


def reject_appeal(appeal_id: int, origin: DecisionOrigin, now: datetime) -> None:
    """Rejects an appeal; its decision stays. Raises: AppealDecided."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        _close(appeal_id, AppealState.REJECTED, DecisionKind.REJECT, origin, now)


def _close(
    appeal_id: int, state: AppealState, kind: DecisionKind, origin: DecisionOrigin, now: datetime
) -> Decision:
    """Sets the appeal's state; returns the decision that the appeal is against."""
    appeal = Appeal.objects.select_for_update().get(pk=appeal_id)
    if appeal.state != AppealState.PENDING:
        raise AppealDecided
    appeal.state, appeal.decided_at = state, now
    appeal.save(using=GLOBAL_ALIAS, update_fields=["state", "decided_at"])
    decision = appeal.decision
    record_decision(kind, origin, decision.account_id, decision.post_id)
    return decision
