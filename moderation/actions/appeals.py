"""Appeals: filed by whom an act concerns, or for them, and decided by moderators."""

from datetime import datetime

from django.db import IntegrityError, transaction

from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account, decide_on_post, record_decision
from moderation.errors import AlreadyAppealed, AppealDecided, StrikeNotFound
from moderation.models import Appeal, Decision
from moderation.types import ADDED_RESTRICTIONS, STRIKES, AppealState, DecisionKind, DecisionOrigin
from posts.ids import PostId


def file_appeal(account_id: int, act_id: int, text: str) -> Appeal:
    """Against an act on this account or its posts. Raises: StrikeNotFound, AlreadyAppealed."""
    acts = Decision.objects.filter(pk=act_id, account_id=account_id, act__in=STRIKES)
    act = acts.first()
    if act is None:
        raise StrikeNotFound
    appeal = Appeal(act=act, text=text)
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            appeal.save(using=GLOBAL_ALIAS, force_insert=True)
    except IntegrityError:
        raise AlreadyAppealed from None
    return appeal


def accept_appeal(appeal_id: int, origin: DecisionOrigin, now: datetime) -> None:
    """The act is undone, in the transaction that says so; what was deleted stays deleted.

    Raises: AppealDecided, and what judging raises. Cost: as judging, and three statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        act = _decide(appeal_id, AppealState.ACCEPTED, DecisionKind.ACCEPT, origin, now)
        if act.act == DecisionKind.HIDE:
            decide_on_post(PostId.from_public(act.post_id), DecisionKind.SHOW, origin)
        elif act.act in ADDED_RESTRICTIONS:
            decide_on_account(
                act.account_id,
                DecisionKind.RESTORE,
                origin,
                now,
                lifted=ADDED_RESTRICTIONS[DecisionKind(act.act)],
            )


def reject_appeal(appeal_id: int, origin: DecisionOrigin, now: datetime) -> None:
    """The act stays. Raises: AppealDecided."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        _decide(appeal_id, AppealState.REJECTED, DecisionKind.REJECT, origin, now)


def _decide(
    appeal_id: int, state: AppealState, word: DecisionKind, origin: DecisionOrigin, now: datetime
) -> Decision:
    appeal = Appeal.objects.select_for_update().get(pk=appeal_id)
    if appeal.state != AppealState.PENDING:
        raise AppealDecided
    appeal.state, appeal.decided_at = state, now
    appeal.save(using=GLOBAL_ALIAS, update_fields=["state", "decided_at"])
    act = appeal.act
    record_decision(word, origin, act.account_id, act.post_id)
    return act
