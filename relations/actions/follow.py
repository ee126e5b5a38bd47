"""Follow, unfollow, answer a follow request and remove a follower.

Each is one write on the follower's shard, also where the followee is the caller.
"""

from collections.abc import Callable

from accounts.queries.load import needs_approval
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from relations.actions.mirror import mirror_now
from relations.actions.write_edge import change_edge
from relations.errors import CannotFollowSelf, FollowRequestNotFound
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

    A follow of a locked account begins as a request. A follow that is on stays on, and a request
    becomes a follow if the account is not locked any more.

    Raises: CannotFollowSelf, CannotFollowBlocked, AccountNotFound, TooManyFollowsToday,
    FollowCapReached (exact under concurrency: the follower's row is locked). Safety: idempotent.
    Cost: one statement on the follower's shard, two if there was an edge. The drain mirrors it.
    """
    if follower_id == followee_id:
        raise CannotFollowSelf
    is_locked = needs_approval(followee_id)

    def next_edge(edge: Edge) -> Edge:
        return step(edge, transition_of(options), clock_ms(), options, is_locked)

    # Most follows are new, so the edge is not read first.
    return change_edge(shard_of(follower_id), follower_id, followee_id, NO_EDGE, next_edge)


def unfollow(follower_id: int, followee_id: int) -> bool:
    """Ends the follow or the request follower → followee; False when there was none. As
    `end_follow`."""
    return end_follow(follower_id, followee_id) is not None


def end_follow(follower_id: int, followee_id: int) -> Edge | None:
    """Ends the follow or the request follower → followee. Returns it; None when there was none.

    Raises: AccountNotFound for the follower. Safety: idempotent. Cost: two statements.
    """
    ended = NO_EDGE

    def next_edge(edge: Edge) -> Edge:
        nonlocal ended
        ended = edge
        return step(edge, Transition.UNFOLLOW, edge.since_ms)

    alias = shard_of(follower_id)
    seen = get_edge(alias, follower_id, followee_id)
    return ended if change_edge(alias, follower_id, followee_id, seen, next_edge) else None


def remove_follower(followee_id: int, follower_id: int) -> bool:
    """Ends follower → followee on request of the followee; False when it had ended already.

    A request ends, too. The edge is mirrored also when the follower ended the follow before and
    the drain has not mirrored that yet.
    Raises: AccountNotFound for the follower. Safety: idempotent; the drain mirrors again.
    Cost: unfollow, and five statements on the followee's shard.
    """
    has_ended = unfollow(follower_id, followee_id)
    _show_to_followee(follower_id, followee_id)
    return has_ended


def approve_request(
    followee_id: int, follower_id: int, clock_ms: Callable[[], int] = now_ms
) -> None:
    """Makes the follower's request a follow, quiet if that was requested.

    A request that was taken back at the same time stays taken back.
    Raises: FollowRequestNotFound, AccountNotFound for the follower. Cost: as remove_follower.
    """
    _answer_request(followee_id, follower_id, Transition.APPROVE, clock_ms)


def reject_request(followee_id: int, follower_id: int) -> None:
    """Ends the follower's request. The follower may ask again.

    Raises: FollowRequestNotFound, AccountNotFound for the follower. Cost: as remove_follower.
    """
    _answer_request(followee_id, follower_id, Transition.REJECT, now_ms)


def _answer_request(
    followee_id: int, follower_id: int, answer: Transition, clock_ms: Callable[[], int]
) -> None:
    def next_edge(edge: Edge) -> Edge:
        return step(edge, answer, clock_ms())

    alias = shard_of(follower_id)
    seen = get_edge(alias, follower_id, followee_id)
    is_answered = change_edge(alias, follower_id, followee_id, seen, next_edge)
    # Also without a change: the list of requests may show a request that was taken back.
    _show_to_followee(follower_id, followee_id)
    if not is_answered:
        raise FollowRequestNotFound


def _show_to_followee(follower_id: int, followee_id: int) -> None:
    """Mirrors the edge before the answer, because the caller is the followee."""
    mirror_now(follower_id, followee_id)
