"""Appeals against decisions: accounts file them, moderators decide on them."""

from contextlib import suppress
from datetime import datetime

from django.db import IntegrityError, transaction

from accounts.images.errors import ImageNotFound
from accounts.types import Restriction
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account, decide_on_post, record_decision
from moderation.actions.decide_on_image import decide_on_image
from moderation.errors import AlreadyAppealed, AppealDecided, StrikeNotFound
from moderation.models import Appeal, Decision
from moderation.queries.decisions import is_deleted_by_owner, strikes_against
from moderation.types import (
    ADDED_RESTRICTIONS,
    AppealState,
    DecisionKind,
    DecisionOrigin,
)


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
        if decision.kind == DecisionKind.HIDE and decision.post:
            decide_on_post(decision.post, DecisionKind.SHOW, origin)
        elif decision.image_id is not None:
            with suppress(ImageNotFound):  # its owner deleted it
                decide_on_image(decision.account_id, decision.image_id, DecisionKind.SHOW, origin)
        elif decision.kind in ADDED_RESTRICTIONS and not _is_over(decision):
            lifted = ADDED_RESTRICTIONS[DecisionKind(decision.kind)]
            decide_on_account(decision.account_id, DecisionKind.RESTORE, origin, now, lifted=lifted)


def _is_over(decision: Decision) -> bool:
    """Whether its restriction ended since: one of today comes from a later decision.

    Also if the owner deleted the suspended account since. Cost: two queries.
    """
    if decision.kind == DecisionKind.SUSPEND and is_deleted_by_owner(
        decision.account_id, decision.pk
    ):
        return True
    restriction = ADDED_RESTRICTIONS[DecisionKind(decision.kind)]
    later = Decision.objects.filter(account_id=decision.account_id, pk__gt=decision.pk)
    left = later.exclude(restrictions=None).values_list("restrictions", flat=True)
    return any(not restriction & Restriction(restrictions or 0) for restrictions in left)


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
