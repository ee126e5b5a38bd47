"""The repairs of edges that an audit found to differ.

Repairs go through the change table, so a repair that is killed at any point is not lost.
"""

from collections.abc import Mapping

from django.db import transaction

from accounts.actions.lock_account import lock_account
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from relations.actions.follow import unfollow
from relations.actions.mirror import (
    MirroredFollowee,
    hide_follower,
    mirror_now,
    mirror_on_shard,
    refresh_followers,
)
from relations.actions.write_edge import write_edge
from relations.cache import relationship_changes
from relations.changes import EdgeChanged
from relations.errors import CannotFollowBlocked, FollowCapReached, TooManyFollowsToday
from relations.queries.edges import Pair, get_backward_edge, get_edge
from relations.states import next_block_revision
from relations.types import Attribute, Edge


def mirror_again(pair: Pair, above: int) -> None:
    """Mirrors a forward edge again over a backward edge of revision `above`.

    A forward edge that is not newer (its shard was restored to an earlier moment) is written again
    with the next revision and the same content. A forward edge that never existed is written as one
    that ended. Raises: AccountNotFound for the follower. Safety: idempotent; one transaction on the
    follower's shard, with a change row, so after a crash the drain does the rest.
    """
    _write_again(pair, above, None)


def recover(pair: Pair, lost: Edge) -> None:
    """Writes a forward edge as its newer backward edge `lost` has it, with the next revision.

    The follower's shard was restored to an earlier moment, and the backward edge is what is left of
    a later write. A follow that may not begin now (a block, a limit) ends on both sides. Raises:
    AccountNotFound for the follower. Safety: as `mirror_again`.
    """
    try:
        _write_again(pair, lost.revision, lost)
    except (CannotFollowBlocked, FollowCapReached, TooManyFollowsToday):
        mirror_again(pair, lost.revision)


def _write_again(pair: Pair, above: int, content: Edge | None) -> None:
    """`content` None: that of the forward edge."""
    follower_id, followee_id = pair
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = get_edge(alias, follower_id, followee_id)
        if edge.revision <= above:
            again = (content or edge)._replace(revision=_revision_above(above, content or edge))
            write_edge(alias, follower_id, followee_id, edge, again)
        else:
            append_change(alias, follower_id, _unchanged(alias, follower_id, followee_id))
    failpoint("relations.mirrored_again")
    mirror_now(follower_id, followee_id)


def _revision_above(revision: int, edge: Edge) -> int:
    """A block must be seen as a new one, so that it ends the opposite follow."""
    is_block = edge.attribute is Attribute.BLACK
    return next_block_revision(revision, 0) if is_block else revision + 1


def _unchanged(alias: str, follower_id: int, followee_id: int) -> EdgeChanged:
    """A change from a version to itself: the follower's lists did not change."""
    counts = read_counts(alias, [follower_id], [CounterKind.FOLLOWING])
    version = counts[follower_id][CounterKind.FOLLOWING].version
    return EdgeChanged(followee_id, before=version, after=version)


def end_orphan(pair: Pair, backward: Edge) -> None:
    """Ends a backward edge whose follower does not exist, so it can have no forward edge."""
    ended = Edge(Attribute.NONE, backward.revision + 1, backward.since_ms)
    _refresh(pair, mirror_on_shard(shard_of(pair[1]), {pair: ended}))


def hide_blocked_follower(pair: Pair) -> None:
    """Hides a follower from the followee, if the followee still blocks them."""
    follower_id, followee_id = pair
    alias = shard_of(followee_id)
    with transaction.atomic(using=alias):
        lock_account(alias, followee_id)
        hidden = hide_follower(alias, follower_id, followee_id)
    _refresh(pair, hidden)


def _refresh(pair: Pair, mirrored: Mapping[int, MirroredFollowee]) -> None:
    redis().run(relationship_changes([pair[::-1]]))
    refresh_followers(mirrored)


def end_blocked_follow(pair: Pair) -> None:
    """Ends a follow, if the followee still blocks the follower."""
    follower_id, followee_id = pair
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        opposite = get_backward_edge(alias, followee_id, follower_id)
        if opposite.attribute is Attribute.BLACK:
            unfollow(follower_id, followee_id)
