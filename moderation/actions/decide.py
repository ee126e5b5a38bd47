"""Judges accounts and posts: one transaction on the default database, with its reason and actor.

What it says is in force when this returns, where the shard can be reached: the change is served at
once. Killed before that, the drain serves it; a replay finds it served already.
"""

from datetime import datetime

from django.db import transaction

from accounts.actions.restrict import lock_user, restrict_user
from accounts.models import User
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.changes import PostDecided
from moderation.errors import CannotModerateStaff, DecisionNeedsReason, NotSuspended, PostIsDeleted
from moderation.models import Decision
from moderation.queries.decisions import load_last_decisions
from moderation.types import ADDED_RESTRICTIONS, DecisionKind, DecisionOrigin
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.rows import find_post_row

EVERYTHING = ~Restriction.NONE


def decide_on_account(
    account_id: int,
    act: DecisionKind,
    origin: DecisionOrigin,
    now: datetime,
    lifted: Restriction = EVERYTHING,
) -> Decision | None:
    """Warns, limits, freezes, suspends, restores or begins to purge; None when it was so already.

    `lifted`: what restoring ends. Raises: AccountNotFound, ReasonMissing, CannotJudgeStaff,
    AccountPurged, NotSuspended. Cost: five statements; suspending ends each token with five more.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        _check(user, origin)
        wanted = _wanted(Restriction(user.restrictions), act, lifted)
        if not restrict_user(user, wanted, now) and act is not DecisionKind.WARN:
            return None
        return record_decision(act, origin, account_id, restrictions=int(wanted))


def decide_on_post(post_id: PostId, act: DecisionKind, origin: DecisionOrigin) -> Decision | None:
    """Hides, shows or deletes a post of any kind; None when it was so already.

    Raises: PostNotFound, PostIsDeleted, ReasonMissing, CannotJudgeStaff. Cost: six statements, and
    as hide_post or delete_post.
    """
    if find_post_row(post_id) is None:
        raise PostNotFound
    with transaction.atomic(using=GLOBAL_ALIAS):
        _check(lock_user(post_id.author_id), origin)
        last = load_last_decisions([post_id]).get(post_id)
        held = DecisionKind(last.act) if last else DecisionKind.SHOW
        if held == act:
            return None
        if held is DecisionKind.DELETE:
            raise PostIsDeleted
        done = record_decision(act, origin, post_id.author_id, post_id=post_id.public)
        append_change(GLOBAL_ALIAS, post_id.author_id, PostDecided(post_id.moment))
    return done


def record_decision(
    act: DecisionKind,
    origin: DecisionOrigin,
    account_id: int,
    post_id: str = "",
    restrictions: int | None = None,
) -> Decision:
    """The row of an act, in the transaction that does it. Raises: ReasonMissing."""
    if not origin.reason.strip():
        raise DecisionNeedsReason
    row = Decision(
        act=act,
        actor_id=origin.actor_id,
        account_id=account_id,
        post_id=post_id,
        reason=origin.reason.strip(),
        restrictions=restrictions,
        report_id=origin.report_id,
    )
    row.save(using=GLOBAL_ALIAS, force_insert=True)
    return row


def _check(judged: User, origin: DecisionOrigin) -> None:
    """Raises: CannotJudgeStaff."""
    if origin.actor_id is None or not judged.is_staff:
        return
    if not User.objects.filter(pk=origin.actor_id, is_superuser=True).exists():
        raise CannotModerateStaff


def _wanted(held: Restriction, act: DecisionKind, lifted: Restriction) -> Restriction:
    if act is DecisionKind.RESTORE:
        return held & ~lifted
    if act is not DecisionKind.PURGE:
        return held | ADDED_RESTRICTIONS[act]
    if Restriction.SUSPENDED not in held:
        raise NotSuspended
    # Purged already: it stays so, and nothing begins anew.
    return held if Restriction.PURGED in held else held | Restriction.PURGING
