"""Mirroring: backward edges and follower counts, written from forward edges.

A block is mirrored too, and it ends the opposite follow: both rows are on the shard of the blocked
account. On the blocker's own shard the block hides that follow at once (`hide_follower`).
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

import structlog
from django.db import transaction
from redis.exceptions import RedisError

from accounts.actions.lock_account import lock_accounts
from counters.actions.move import move
from counters.cache import refresh_account_counts
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.types import ACCOUNT, CountMove
from infra.caching.client import Command, redis
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.write_edge import write_edge
from relations.cache import (
    FOLLOWERS,
    OPEN_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.counter_rows import BACKWARD_KINDS, iter_moves
from relations.queries.edges import (
    Pair,
    get_backward_edge,
    get_edge,
    load_backward_edges,
    load_forward_edges,
)
from relations.sql import BACKWARD_TABLE, KIND
from relations.states import Transition, as_seen_by_followee, count_blocks, step
from relations.types import NO_EDGE, Edge

log = structlog.get_logger()

WRITE_BACKWARD = f"""
INSERT INTO {BACKWARD_TABLE} AS old
    (follower_id, kind, followee_id, attribute, revision, since_ms, flags)
SELECT follower_id, {KIND}, followee_id, attribute, revision, since_ms, flags FROM unnest(
    %s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[], %s::smallint[]
) AS new (follower_id, followee_id, attribute, revision, since_ms, flags)
ON CONFLICT (followee_id, kind, follower_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision, since_ms = excluded.since_ms,
    flags = excluded.flags
WHERE old.revision < excluded.revision
"""  # noqa: S608
HIDE_BACKWARD = f"""
UPDATE {BACKWARD_TABLE} SET attribute = 0, flags = 0
WHERE followee_id = %s AND kind = {KIND} AND follower_id = %s
"""  # noqa: S608


class BackwardUpdate(NamedTuple):
    """One backward edge before and after, and the opposite edge: followee to follower."""

    old: Edge
    new: Edge
    opposite: Edge


class MirroredFollowee(NamedTuple):
    """One followee after mirroring: the version of the followers list, and the updated edges."""

    version: int
    updated: dict[int, Edge]  # by follower


def mirror_on_shard(alias: str, forward: Mapping[Pair, Edge]) -> dict[int, MirroredFollowee]:
    """Writes those of the edges that are newer than what the followees' shard has.

    Returns all followees, also those without an update. Safety: one transaction; followees are
    locked in order of id, so each edge is counted once.
    Cost: six statements for any number of edges, four more for each block that ends a follow.
    """
    followee_ids = sorted({followee_id for _, followee_id in forward})
    with transaction.atomic(using=alias):
        lock_accounts(alias, followee_ids)
        updates = _find_updates(alias, forward)
        if updates:
            _write(alias, {pair: update.new for pair, update in updates.items()})
            move(alias, chain.from_iterable(_moves(p, u.old, u.new) for p, u in updates.items()))
            _end_follows_of_the_blocked(alias, updates)
        counts = read_counts(alias, followee_ids, [CounterKind.FOLLOWERS])
    versions = {i: counts[i][CounterKind.FOLLOWERS].version for i in followee_ids}
    mirrored = {i: MirroredFollowee(version, {}) for i, version in versions.items()}
    for (follower_id, followee_id), update in updates.items():
        mirrored[followee_id].updated[follower_id] = update.new
    return mirrored


def hide_follower(alias: str, follower_id: int, followee_id: int) -> dict[int, MirroredFollowee]:
    """Hides a follower from the followee who blocks them, in the transaction of the block.

    The caller holds the followee's row lock. Returns the argument for `refresh_followers`, empty
    when there was no follow. Cost: two queries, and two statements more when there was a follow.
    """
    old = get_backward_edge(alias, follower_id, followee_id)
    hidden = as_seen_by_followee(old, get_edge(alias, followee_id, follower_id))
    if hidden == old:
        return {}
    execute(alias, HIDE_BACKWARD, (followee_id, follower_id))
    counts = move(alias, _moves((follower_id, followee_id), old, hidden))
    version = counts[followee_id, ACCOUNT, CounterKind.FOLLOWERS].version
    return {followee_id: MirroredFollowee(version, {follower_id: hidden})}


def refresh_followers(mirrored: Mapping[int, MirroredFollowee]) -> None:
    """Brings cached followers lists and counts up to the rows. Raises RedisError: try again."""
    redis().run([_list_command(followee_id, m) for followee_id, m in mirrored.items()])
    refresh_account_counts(mirrored)


def mirror_now(follower_id: int, followee_id: int) -> bool:
    """Mirrors one edge before the answer, for callers who see its other side.

    False: Redis or the followee's shard could not be reached, and the drain will do it.
    """
    edge = get_edge(shard_of(follower_id), follower_id, followee_id)
    if not edge.revision:
        return True
    try:
        mirrored = mirror_on_shard(shard_of(followee_id), {(follower_id, followee_id): edge})
        failpoint("relations.mirrored_now")
        redis().run(relationship_changes([(followee_id, follower_id)]))
        refresh_followers(mirrored)
    except (*UNREACHABLE, RedisError) as error:
        log.warning("relations.mirror_left_to_drain", account=followee_id, error=str(error))
        return False
    return True


def _list_command(followee_id: int, mirrored: MirroredFollowee) -> Command:
    """Without an update the cached list has this version, or is older and is dropped."""
    before = mirrored.version - 1 if mirrored.updated else mirrored.version
    added, removed = split_by_attribute(mirrored.updated, OPEN_FOLLOWS)
    change = list_change(before, mirrored.version, added, removed)
    return FOLLOWERS.change_command(followee_id, change)


def _find_updates(alias: str, forward: Mapping[Pair, Edge]) -> dict[Pair, BackwardUpdate]:
    """The edges that are newer than their backward edge. The followees are locked."""
    old = load_backward_edges(alias, forward)
    newer = {p: e for p, e in forward.items() if e.revision > old.get(p, NO_EDGE).revision}
    opposites = load_forward_edges(alias, [pair[::-1] for pair in newer])
    updates = {}
    for pair, edge in newer.items():
        opposite = opposites.get(pair[::-1], NO_EDGE)
        new = as_seen_by_followee(edge, opposite)
        updates[pair] = BackwardUpdate(old.get(pair, NO_EDGE), new, opposite)
    return updates


def _end_follows_of_the_blocked(alias: str, updates: Mapping[Pair, BackwardUpdate]) -> None:
    """Ends the follows that the blocked accounts have of their blockers. Their rows are locked.

    A block that was taken back before it was mirrored ends them too: unblock restores nothing.
    """
    for (blocker_id, blocked_id), (old, new, opposite) in updates.items():
        if count_blocks(new) > count_blocks(old) and opposite.is_follow:
            ended = step(opposite, Transition.UNFOLLOW, new.since_ms)
            write_edge(alias, blocked_id, blocker_id, opposite, ended)


def _moves(pair: Pair, old: Edge, new: Edge) -> Iterable[CountMove]:
    return iter_moves(BACKWARD_KINDS, CounterKind.FOLLOWERS, pair[1], old, new)


def _write(alias: str, edges: Mapping[Pair, Edge]) -> None:
    rows = sorted((followee, follower, *edge) for (follower, followee), edge in edges.items())
    columns = [[int(value) for value in column] for column in zip(*rows, strict=True)]
    followees, followers, *facts = columns
    execute(alias, WRITE_BACKWARD, [followers, followees, *facts])
