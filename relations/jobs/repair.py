"""Mends the derived side through the change stream: killed anywhere, a repair is not lost."""

from collections.abc import Mapping

from django.db import transaction

from accounts.actions.lock_account import lock_account
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from relations.actions.edges import read_backward_edge, read_edge, write_edge
from relations.actions.follow import unfollow
from relations.actions.mirror import (
    MirroredFollowee,
    Pair,
    hide_follower,
    mirror_now,
    mirror_on_shard,
    refresh_followers,
)
from relations.cache import relationship_changes
from relations.changes import EdgeChanged
from relations.states import BLOCK_STEP
from relations.types import Attribute, Edge


def mirror_again(pair: Pair, above: int) -> None:
    """Mirrors a forward edge once more over a backward edge of revision `above`.

    A forward edge that is not newer (its shard was restored to an earlier moment) is written again
    as it is, with the next revision; one that never was, as one that ended. What it says stays.
    Raises: AccountNotFound for the follower. Safety: idempotent; one transaction on the follower's
    shard, with a change row: killed after it, the drain does the rest.
    """
    follower_id, followee_id = pair
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = read_edge(alias, follower_id, followee_id)
        if edge.revision <= above:
            again = edge._replace(revision=_revision_above(edge, above))
            write_edge(alias, follower_id, followee_id, edge, again)
        else:
            append_change(alias, follower_id, _told_again(alias, follower_id, followee_id))
    failpoint("relations.mirrored_again")
    mirror_now(follower_id, followee_id)


def _revision_above(edge: Edge, revision: int) -> int:
    """The next one; of a block the next that counts as a block, so that it ends what faces it."""
    if edge.attribute is Attribute.BLACK:
        return (revision // BLOCK_STEP + 1) * BLOCK_STEP
    return revision + 1


def _told_again(alias: str, follower_id: int, followee_id: int) -> EdgeChanged:
    """From a version to itself: the follower's lists did not change."""
    counts = read_counts(alias, [follower_id], [CounterKind.FOLLOWING])
    version = counts[follower_id][CounterKind.FOLLOWING].version
    return EdgeChanged(followee_id, before=version, after=version)


def end_orphan(pair: Pair, there: Edge) -> None:
    """Ends a backward edge whose follower does not exist, so that nobody can write its truth."""
    ended = Edge(Attribute.NONE, there.revision + 1, there.since_ms)
    _refresh(pair, mirror_on_shard(shard_of(pair[1]), {pair: ended}))


def hide_blocked_follower(pair: Pair) -> None:
    """Takes a follower off the side of the followee who blocks them, if it is so still."""
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
    """Ends a follow of somebody who blocks the follower, if it is so still."""
    follower_id, followee_id = pair
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        facing = read_backward_edge(alias, followee_id, follower_id)
        if facing.attribute is Attribute.BLACK:
            unfollow(follower_id, followee_id)
