"""Decides on accounts and posts: one transaction on the default database, with reason and actor.

The decision is in force when the function returns, if the shard can be reached: the change is
delivered inline. If the process dies before the delivery, the drain delivers the change.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.actions.restrict import restrict_user
from accounts.models import User
from accounts.types import Restriction
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.timed_restrictions import check_end, check_may_end, is_end_moved, write_ends
from moderation.changes import PostDecided, StrikeRecorded
from moderation.errors import (
    CannotModerateStaff,
    DecisionNeedsReason,
    NotSuspended,
    PostIsDeleted,
    SuspensionEnds,
)
from moderation.models import Decision
from moderation.queries.decisions import is_deactivated, load_ends, load_last_decisions
from moderation.types import (
    ADDED_RESTRICTIONS,
    OWNER_DELETED,
    STRIKES,
    DecisionKind,
    DecisionOrigin,
)
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
    ends_at: datetime | None = None,
) -> Decision | None:
    """Warns, limits, freezes, suspends, restores or starts to purge an account.

    Returns None if the decision changes nothing. `lifted`: the restrictions that RESTORE ends.
    `ends_at`: the restriction then ends by itself. Deciding the same again with another end, or
    without one, changes the end. Raises: AccountNotFound, DecisionNeedsReason, CannotModerateStaff,
    AccountPurged, NotSuspended, SuspensionEnds, EndIsOver, EndsNever, DeletedByOwner,
    DeactivatedByProduct.
    Cost: eight statements; suspending ends each token with five more.
    """
    check_end(kind, ends_at, now)
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        check_actor(user, origin)
        ends = load_ends([account_id]).get(account_id, {})
        before = Restriction(user.restrictions)
        if ends_at is not None:
            check_may_end(before, kind, account_id)
        wanted = _restrictions_after(before, kind, lifted, ends, account_id)
        is_moved = is_end_moved(before, ends, kind, ends_at)
        is_taken_over = _is_taken_over(before, kind, account_id)
        # It is purged as long after this decision as after a new suspension.
        begins_again = is_taken_over or (
            is_moved and kind is DecisionKind.SUSPEND and ends_at is None
        )
        is_deleted = kind is DecisionKind.PURGE or origin.reason == OWNER_DELETED
        is_new = restrict_user(user, wanted, now, begins_again, is_deleted)
        if not (is_new or is_moved or is_taken_over or kind is DecisionKind.WARN):
            return None
        decision = record_decision(
            kind, origin, account_id, restrictions=int(wanted), ends_at=ends_at
        )
        write_ends(decision, lifted)
        return decision


def decide_on_post(post_id: PostId, kind: DecisionKind, origin: DecisionOrigin) -> Decision | None:
    """Hides, shows or deletes a post of any kind. Returns None if the decision changes nothing.

    Raises: PostNotFound, PostIsDeleted, DecisionNeedsReason, CannotModerateStaff. Cost: seven
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
    ends_at: datetime | None = None,
) -> Decision:
    """Inserts the row of a decision, and the change by which the account learns of it.

    Safety: the caller's transaction also carries it out, and locks the user if it is a strike.
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
        ends_at=ends_at,
        report_id=origin.report_id,
    )
    row.save(using=GLOBAL_ALIAS, force_insert=True)
    if kind in STRIKES and not (row.is_of_owner or row.is_of_product):
        append_change(GLOBAL_ALIAS, account_id, StrikeRecorded(row.pk))
    return row


def check_actor(user: User, origin: DecisionOrigin) -> None:
    """Raises: CannotModerateStaff if a moderator decides on staff and is no superuser."""
    if origin.actor_id is None or not user.is_staff:
        return
    if not User.objects.filter(pk=origin.actor_id, is_superuser=True).exists():
        raise CannotModerateStaff


def _is_taken_over(before: Restriction, kind: DecisionKind, account_id: int) -> bool:
    """Whether moderators, or the owner, suspend an account that its product has deactivated."""
    is_repeated = kind is DecisionKind.SUSPEND and Restriction.SUSPENDED in before
    return is_repeated and is_deactivated(account_id)


def _restrictions_after(
    current: Restriction,
    kind: DecisionKind,
    lifted: Restriction,
    ends: Mapping[Restriction, datetime],
    account_id: int,
) -> Restriction:
    if kind is DecisionKind.RESTORE:
        return current & ~lifted
    if kind is not DecisionKind.PURGE:
        return current | ADDED_RESTRICTIONS[kind]
    if Restriction.SUSPENDED not in current:
        raise NotSuspended
    if Restriction.SUSPENDED in ends or is_deactivated(account_id):
        raise SuspensionEnds
    # A purged account stays purged: a second purge must not start.
    return current if Restriction.PURGED in current else current | Restriction.PURGING
