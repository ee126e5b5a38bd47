"""Follow, unfollow and remove a follower: one transaction on the follower's shard each."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.changes.append import finish_interrupted
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.mirror import mirror_now
from relations.actions.write_edge import write_edge
from relations.errors import (
    CannotFollowBlocked,
    CannotFollowSelf,
    FollowCapReached,
    TooManyFollowsToday,
)
from relations.queries.edges import get_backward_edge, get_edge
from relations.states import Transition, step, transition_of
from relations.types import NO_OPTIONS, Attribute, FollowOptions

DAY_MS = 86_400_000
COUNT_TODAY = """
INSERT INTO relations_followday AS d (account_id, day, begun) VALUES (%s, %s, 1)
ON CONFLICT (account_id) DO UPDATE SET
    begun = CASE WHEN d.day = excluded.day THEN d.begun + 1 ELSE 1 END, day = excluded.day
RETURNING begun
"""


def follow(
    follower_id: int,
    followee_id: int,
    options: FollowOptions = NO_OPTIONS,
    clock_ms: Callable[[], int] = now_ms,
) -> bool:
    """Makes follower follow followee with these options; False when nothing had to change.

    Raises: CannotFollowSelf, CannotFollowBlocked, AccountNotFound, TooManyFollowsToday,
    FollowCapReached (exact under concurrency: the follower's row is locked). Safety: idempotent.
    Cost: seven statements in one transaction on the follower's shard. The drain mirrors the edge.
    """
    if follower_id == followee_id:
        raise CannotFollowSelf
    require_account(followee_id)
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = get_edge(alias, follower_id, followee_id)
        moment_ms = clock_ms()
        changed = step(edge, transition_of(options), moment_ms, options)
        if changed == edge:
            finish_interrupted(alias, follower_id)
            return False
        if not edge.is_follow:
            _check_may_begin(alias, follower_id, followee_id, moment_ms)
        following = write_edge(alias, follower_id, followee_id, edge, changed)
        if not edge.is_follow and following.value > settings.FOLLOW_CAP:
            raise FollowCapReached
    return True


def unfollow(follower_id: int, followee_id: int) -> bool:
    """Ends the follow follower → followee; False when there was none.

    Raises: AccountNotFound for the follower. Safety: idempotent. Cost: five statements.
    """
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = get_edge(alias, follower_id, followee_id)
        ended = step(edge, Transition.UNFOLLOW, edge.since_ms)
        if ended == edge:
            finish_interrupted(alias, follower_id)
            return False
        write_edge(alias, follower_id, followee_id, edge, ended)
    return True


def remove_follower(followee_id: int, follower_id: int) -> bool:
    """Ends follower → followee on request of the followee; False when it had ended already.

    The caller is the followee, so the edge is mirrored before the answer. It is mirrored also when
    the follower ended the follow before and the drain has not mirrored that yet.
    Raises: AccountNotFound for the follower. Safety: idempotent; the drain mirrors again.
    Cost: unfollow, and five statements on the followee's shard.
    """
    has_ended = unfollow(follower_id, followee_id)
    mirror_now(follower_id, followee_id)
    return has_ended


def _check_may_begin(alias: str, follower_id: int, followee_id: int, moment_ms: int) -> None:
    """Raises CannotFollowBlocked, TooManyFollowsToday. Two queries on the follower's shard."""
    opposite = get_backward_edge(alias, followee_id, follower_id)
    if opposite.attribute is Attribute.BLACK:
        raise CannotFollowBlocked
    day, passed_ms = divmod(moment_ms, DAY_MS)
    row = fetch_one(alias, COUNT_TODAY, (follower_id, day))
    if row is not None and row[0] > settings.FOLLOWS_PER_DAY:
        raise TooManyFollowsToday((DAY_MS - passed_ms) // 1000 + 1)
