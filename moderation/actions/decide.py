"""Decides on accounts and posts: one transaction on the default database, with reason and actor.

The decision is in force when the function returns, if the shard can be reached: the change is
delivered inline. If the process dies before the delivery, the drain delivers the change.
"""

from datetime import datetime

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.actions.restrict import restrict_user
from accounts.models import User
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.changes import PostDecided
from moderation.errors import (
    CannotModerateStaff,
    DecisionNeedsReason,
    NotSuspended,
    PostIsDeleted,
)
from moderation.models import Decision
from moderation.queries.decisions import load_last_decisions
from moderation.types import ADDED_RESTRICTIONS, DecisionKind, DecisionOrigin
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.rows import find_post_row

ALL_RESTRICTIONS = ~Restriction.NONE


def decide_on_account(
    account_id: int,
    kind: DecisionKind,
    origin: DecisionOrigin,
    now: datetime,
    lifted: Restriction = ALL_RESTRICTIONS,
) -> Decision | None:
    """Warns, limits, freezes, suspends, restores or starts to purge an account.

    Returns None if the decision changes nothing. `lifted`: the restrictions that RESTORE ends.
    Raises: AccountNotFound, DecisionNeedsReason, CannotModerateStaff, AccountPurged, NotSuspended.
    Cost: five statements; suspending ends each token with five more.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        check_actor(user, origin)
        wanted = _restrictions_after(Restriction(user.restrictions), kind, lifted)
        if not restrict_user(user, wanted, now) and kind is not DecisionKind.WARN:
            return None
        return record_decision(kind, origin, account_id, restrictions=int(wanted))


def decide_on_post(post_id: PostId, kind: DecisionKind, origin: DecisionOrigin) -> Decision | None:
    """Hides, shows or deletes a post of any kind. Returns None if the decision changes nothing.

    Raises: PostNotFound, PostIsDeleted, DecisionNeedsReason, CannotModerateStaff. Cost: six
    statements, and those of hide_post or delete_post.
    """
    if find_post_row(post_id) is None:
        raise PostNotFound
    with transaction.atomic(using=GLOBAL_ALIAS):
        check_actor(lock_user(post_id.author_id), origin)
        last = load_last_decisions([post_id]).get(post_id)
        current = DecisionKind(last.kind) if last else DecisionKind.SHOW
        if current == kind:
            return None
        if current is DecisionKind.DELETE:
            raise PostIsDeleted
        decision = record_decision(kind, origin, post_id.author_id, post_id=post_id.base36)
        append_change(GLOBAL_ALIAS, post_id.author_id, PostDecided(post_id.moment))
    return decision


def record_decision(
    kind: DecisionKind,
    origin: DecisionOrigin,
    account_id: int,
    post_id: str = "",
    restrictions: int | None = None,
    image_id: int | None = None,
) -> Decision:
    """Inserts the row of a decision. Safety: the caller's transaction also carries it out.

    Raises: DecisionNeedsReason.
    """
    if not origin.reason.strip():
        raise DecisionNeedsReason
    row = Decision(
        kind=kind,
        actor_id=origin.actor_id,
        account_id=account_id,
        post_id=post_id,
        image_id=image_id,
        reason=origin.reason.strip(),
        restrictions=restrictions,
        report_id=origin.report_id,
    )
    row.save(using=GLOBAL_ALIAS, force_insert=True)
    return row


def check_actor(user: User, origin: DecisionOrigin) -> None:
    """Raises: CannotModerateStaff if a moderator decides on staff and is no superuser."""
    if origin.actor_id is None or not user.is_staff:
        return
    if not User.objects.filter(pk=origin.actor_id, is_superuser=True).exists():
        raise CannotModerateStaff


def _restrictions_after(
    current: Restriction, kind: DecisionKind, lifted: Restriction
) -> Restriction:
    if kind is DecisionKind.RESTORE:
        return current & ~lifted
    if kind is not DecisionKind.PURGE:
        return current | ADDED_RESTRICTIONS[kind]
    if Restriction.SUSPENDED not in current:
        raise NotSuspended
    # A purged account stays purged: a second purge must not start.
    return current if Restriction.PURGED in current else current | Restriction.PURGING
