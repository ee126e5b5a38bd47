"""Judges accounts and posts: one transaction on the default database, with its reason and actor.

What it says is in force when this returns, where the shard can be reached: the change is served at
once. Killed before that, the drain serves it; a replay finds it served already.
"""

from datetime import datetime

from django.db import transaction

from accounts.actions.restrict_user import lock_user, restrict_user
from accounts.models import User
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.changes import PostJudged
from moderation.errors import CannotJudgeStaff, NotSuspended, PostIsDeleted, ReasonMissing
from moderation.models import ModerationAct
from moderation.queries.acts import load_last_acts
from moderation.types import ADDED, Act, Verdict
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.rows import find_post_row

EVERYTHING = ~Restriction.NONE


def judge_account(
    account_id: int,
    act: Act,
    verdict: Verdict,
    now: datetime,
    lifted: Restriction = EVERYTHING,
) -> ModerationAct | None:
    """Warns, limits, freezes, suspends, restores or begins to purge; None when it was so already.

    `lifted`: what restoring ends. Raises: AccountNotFound, ReasonMissing, CannotJudgeStaff,
    AccountPurged, NotSuspended. Cost: five statements; suspending ends each token with five more.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        _check(user, verdict)
        wanted = _wanted(Restriction(user.restrictions), act, lifted)
        if not restrict_user(user, wanted, now) and act is not Act.WARN:
            return None
        return record(act, verdict, account_id, restrictions=int(wanted))


def judge_post(post_id: PostId, act: Act, verdict: Verdict) -> ModerationAct | None:
    """Hides, shows or deletes a post of any kind; None when it was so already.

    Raises: PostNotFound, PostIsDeleted, ReasonMissing, CannotJudgeStaff. Cost: six statements, and
    as hide_post or delete_post.
    """
    if find_post_row(post_id) is None:
        raise PostNotFound
    with transaction.atomic(using=GLOBAL_ALIAS):
        _check(lock_user(post_id.author_id), verdict)
        last = load_last_acts([post_id]).get(post_id)
        held = Act(last.act) if last else Act.SHOW
        if held == act:
            return None
        if held is Act.DELETE:
            raise PostIsDeleted
        done = record(act, verdict, post_id.author_id, post_id=post_id.public)
        append_change(GLOBAL_ALIAS, post_id.author_id, PostJudged(post_id.moment))
    return done


def record(
    act: Act,
    verdict: Verdict,
    account_id: int,
    post_id: str = "",
    restrictions: int | None = None,
) -> ModerationAct:
    """The row of an act, in the transaction that does it. Raises: ReasonMissing."""
    if not verdict.reason.strip():
        raise ReasonMissing
    row = ModerationAct(
        act=act,
        actor_id=verdict.actor_id,
        account_id=account_id,
        post_id=post_id,
        reason=verdict.reason.strip(),
        restrictions=restrictions,
        report_id=verdict.report_id,
    )
    row.save(using=GLOBAL_ALIAS, force_insert=True)
    return row


def _check(judged: User, verdict: Verdict) -> None:
    """Raises: CannotJudgeStaff."""
    if verdict.actor_id is None or not judged.is_staff:
        return
    if not User.objects.filter(pk=verdict.actor_id, is_superuser=True).exists():
        raise CannotJudgeStaff


def _wanted(held: Restriction, act: Act, lifted: Restriction) -> Restriction:
    if act is Act.RESTORE:
        return held & ~lifted
    if act is not Act.PURGE:
        return held | ADDED[act]
    if Restriction.SUSPENDED not in held:
        raise NotSuspended
    # Purged already: it stays so, and nothing begins anew.
    return held if Restriction.PURGED in held else held | Restriction.PURGING
