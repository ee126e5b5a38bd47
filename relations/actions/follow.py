"""Follow, unfollow and remove a follower: one write on the follower's shard each."""

from collections.abc import Callable

from accounts.queries.load import require_account
from infra.caching.client import redis
from infra.caching.viewer_validators import record_own_writes
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from relations.actions.mirror import mirror_now
from relations.actions.write_edge import change_edge
from relations.errors import CannotFollowSelf
from relations.queries.edges import get_edge
from relations.states import Transition, step, transition_of
from relations.types import NO_EDGE, NO_OPTIONS, Edge, FollowOptions


def follow(
    follower_id: int,
    followee_id: int,
    options: FollowOptions = NO_OPTIONS,
    clock_ms: Callable[[], int] = now_ms,
) -> bool:
    """Makes follower follow followee with these options; False when nothing had to change.

    Raises: CannotFollowSelf, CannotFollowBlocked, AccountNotFound, TooManyFollowsToday,
    FollowCapReached (exact under concurrency: the follower's row is locked). Safety: idempotent.
    Cost: one statement on the follower's shard, two if there was an edge. The drain mirrors it.
    """
    if follower_id == followee_id:
        raise CannotFollowSelf
    require_account(followee_id)

    def next_edge(edge: Edge) -> Edge:
        return step(edge, transition_of(options), clock_ms(), options)

    # Most follows are new, so the edge is not read first.
    return change_edge(shard_of(follower_id), follower_id, followee_id, NO_EDGE, next_edge)


def unfollow(follower_id: int, followee_id: int) -> bool:
    """Ends the follow follower → followee; False when there was none.

    Raises: AccountNotFound for the follower. Safety: idempotent. Cost: two statements.
    """

    def next_edge(edge: Edge) -> Edge:
        return step(edge, Transition.UNFOLLOW, edge.since_ms)

    alias = shard_of(follower_id)
    seen = get_edge(alias, follower_id, followee_id)
    return change_edge(alias, follower_id, followee_id, seen, next_edge)


def remove_follower(followee_id: int, follower_id: int) -> bool:
    """Ends follower → followee on request of the followee; False when it had ended already.

    The caller is the followee, so the edge is mirrored before the answer. It is mirrored also when
    the follower ended the follow before and the drain has not mirrored that yet.
    Raises: AccountNotFound for the follower. Safety: idempotent; the drain mirrors again.
    Cost: unfollow, and five statements on the followee's shard.
    """
    has_ended = unfollow(follower_id, followee_id)
    mirror_now(follower_id, followee_id)
    redis().send(record_own_writes, items=[followee_id])
    return has_ended
