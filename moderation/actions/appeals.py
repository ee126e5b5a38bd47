"""Appeals: filed by whom an act concerns, or for them, and decided by moderators."""

from datetime import datetime

from django.db import IntegrityError, transaction

from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.judge import judge_account, judge_post, record
from moderation.errors import AlreadyAppealed, AppealDecided, StrikeNotFound
from moderation.models import Appeal, ModerationAct
from moderation.types import ADDED, STRIKES, Act, AppealState, Verdict
from posts.ids import PostId


def file_appeal(account_id: int, act_id: int, text: str) -> Appeal:
    """Against an act on this account or its posts. Raises: StrikeNotFound, AlreadyAppealed."""
    acts = ModerationAct.objects.filter(pk=act_id, account_id=account_id, act__in=STRIKES)
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


def accept_appeal(appeal_id: int, verdict: Verdict, now: datetime) -> None:
    """The act is undone, in the transaction that says so; what was deleted stays deleted.

    Raises: AppealDecided, and what judging raises. Cost: as judging, and three statements.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        act = _decide(appeal_id, AppealState.ACCEPTED, Act.ACCEPT, verdict, now)
        if act.act == Act.HIDE:
            judge_post(PostId.from_public(act.post_id), Act.SHOW, verdict)
        elif act.act in ADDED:
            judge_account(act.account_id, Act.RESTORE, verdict, now, lifted=ADDED[Act(act.act)])


def reject_appeal(appeal_id: int, verdict: Verdict, now: datetime) -> None:
    """The act stays. Raises: AppealDecided."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        _decide(appeal_id, AppealState.REJECTED, Act.REJECT, verdict, now)


def _decide(
    appeal_id: int, state: AppealState, word: Act, verdict: Verdict, now: datetime
) -> ModerationAct:
    appeal = Appeal.objects.select_for_update().get(pk=appeal_id)
    if appeal.state != AppealState.PENDING:
        raise AppealDecided
    appeal.state, appeal.decided_at = state, now
    appeal.save(using=GLOBAL_ALIAS, update_fields=["state", "decided_at"])
    act = appeal.act
    record(word, verdict, act.account_id, act.post_id)
    return act
