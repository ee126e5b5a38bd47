"""Mirroring: backward edges and follower counts, written from forward edges.

A block is mirrored too, and it ends the opposite follow: both rows are on the shard of the blocked
account. On the blocker's own shard the block hides that follow at once (`hide_follower`).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import structlog
from django.db import OperationalError, transaction
from redis.exceptions import RedisError

from accounts.actions.lock_account import lock_accounts
from counters.actions.postpone import find_postponed
from counters.cache import refresh_account_counts
from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.sql import create_and_lock_counts
from counters.types import ACCOUNT
from infra.caching.client import Command, redis
from infra.caching.lists import ListChange
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.attempts import timeouts
from infra.sharding.buckets import shard_of
from infra.sharding.sql import Statement, execute, fetch_pipelined
from infra.telemetry.reached_branches import reached
from relations.actions.follower_moves import BackwardUpdate, plan_follower_moves
from relations.actions.write_edge import write_edge
from relations.cache import (
    FOLLOWERS,
    OPEN_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.queries.edges import (
    LOAD_FORWARD,
    LOCK_BACKWARD,
    Pair,
    edges_of,
    get_edge,
    pair_columns,
)
from relations.sql import BACKWARD_TABLE, KIND
from relations.states import Transition, as_seen_by_followee, ends_follow, last_block_turn, step
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
RETURNING follower_id, followee_id, xmax = 0 AS is_new
"""  # noqa: S608
CREATE_COUNTS, LOCK_COUNTS = create_and_lock_counts(CounterKind.FOLLOWERS)
HIDE_BACKWARD = f"""
UPDATE {BACKWARD_TABLE} SET attribute = 0, flags = 0
WHERE followee_id = %s AND kind = {KIND} AND follower_id = %s
"""  # noqa: S608


class LockedEdges(NamedTuple):
    """Rows of the followees' shard: the versions of the followers lists by followee, the backward
    edges, the edges in the opposite direction, and the followees whose moves are postponed.
    """

    versions: dict[int, int | None]
    backward: Mapping[Pair, Edge]
    opposites: Mapping[Pair, Edge]
    postponed: Collection[int]


class MirroredFollowee(NamedTuple):
    """One followee after mirroring: the version of the followers list, and the updated edges.

    `version` None: the moves were postponed, so the list gets its next version later.
    """

    version: int | None
    updated: dict[int, Edge]  # by follower


class EdgeJustMirrored(OperationalError):
    """Another transaction mirrored one of the edges at the same time. Mirror again."""


def mirror_on_shard(
    alias: str,
    forward: Mapping[Pair, Edge],
    gives_way: bool = False,
    hot: Collection[Subject] = frozenset(),
) -> dict[int, MirroredFollowee]:
    """Writes those of the edges that are newer than what the followees' shard has.

    Returns all followees, also those without an update. `gives_way`: the caller would rather have
    an error of UNREACHABLE than wait for a locked row. `hot`: subjects of counts that are written
    very often; their moves are postponed. Raises: EdgeJustMirrored, if that happens twice.
    Safety: one transaction. It locks the followers counts first, as a block does, so it sees all
    blocks; and it knows the old row of each edge, so each edge is counted once. Without that lock,
    for hot counts, `fold_follower_moves` looks for blocks. The order of all locks is in
    docs/explanation/architecture.md; two drains of the same new edges may deadlock, and try again.
    Cost: two round trips for any number of edges, four statements more for each block that ends a
    follow; twice that if the request and the drain mirror one edge at the same time.
    """
    try:
        return _mirror(alias, forward, gives_way, hot)
    except EdgeJustMirrored:
        reached("relations.mirrored_together")
        # The other transaction has ended, so its rows are seen now.
        return _mirror(alias, forward, gives_way, hot)


def _mirror(
    alias: str, forward: Mapping[Pair, Edge], gives_way: bool, hot: Collection[Subject]
) -> dict[int, MirroredFollowee]:
    with transaction.atomic(using=alias):
        if any(map(last_block_turn, forward.values())):
            lock_accounts(alias, sorted({followee_id for _, followee_id in forward}))
        locked = _lock(alias, forward.keys(), [timeouts()] if gives_way else [], hot)
        failpoint("relations.edges_locked")
        updates, versions = _find_updates(locked, forward), locked.versions
        if updates:
            versions |= _write(alias, locked, updates)
            _end_follows_of_the_blocked(alias, updates)
    return build_mirrored(versions, {pair: update.new for pair, update in updates.items()})


def build_mirrored(
    versions: Mapping[int, int | None], updated: Mapping[Pair, Edge]
) -> dict[int, MirroredFollowee]:
    """The followees with these versions, and their updated edges."""
    mirrored = {i: MirroredFollowee(version, {}) for i, version in versions.items()}
    for (follower_id, followee_id), edge in updated.items():
        mirrored[followee_id].updated[follower_id] = edge
    return mirrored


def hide_follower(alias: str, follower_id: int, followee_id: int) -> dict[int, MirroredFollowee]:
    """Hides a follower from the followee who blocks them, in the transaction of the block.

    The caller holds the followee's row lock. Returns the argument for `refresh_followers`, empty
    when there was no follow. Safety: locks the followers count first, so that no follow is mirrored
    at the same time. Cost: one round trip, and two statements more when there was a follow.
    """
    pair = follower_id, followee_id
    locked = _lock(alias, [pair])
    old = locked.backward.get(pair, NO_EDGE)
    hidden = as_seen_by_followee(old, locked.opposites[pair[::-1]])
    if hidden == old:
        return {}
    execute(alias, HIDE_BACKWARD, (followee_id, follower_id))
    moves = plan_follower_moves({pair: BackwardUpdate(old, hidden, NO_EDGE)}, locked.postponed)
    versions = moves.complete(alias, fetch_pipelined(alias, moves.statements(alias)))
    return build_mirrored(versions, {pair: hidden})


def refresh_followers(mirrored: Mapping[int, MirroredFollowee]) -> None:
    """Brings cached followers lists and counts up to the rows. Raises RedisError: try again."""
    refresh_account_counts(mirrored, list_commands(mirrored))


def refresh_mirrored(items: Sequence[tuple[Pair, Mapping[int, MirroredFollowee]]]) -> None:
    """Brings the caches of followees up to the rows, after the edges of these pairs were mirrored.

    Raises RedisError: try again.
    """
    redis().run(relationship_changes(pair[::-1] for pair, _ in items))
    refresh_lists([mirrored for _, mirrored in items])


def refresh_lists(items: Sequence[Mapping[int, MirroredFollowee]]) -> None:
    """`refresh_followers` for the results of several transactions."""
    for mirrored in items:
        refresh_followers(mirrored)


def mirror_now(follower_id: int, followee_id: int) -> bool:
    """Mirrors one edge before the answer, for callers who see its other side.

    False: the followee's shard could not be reached, and the drain will do it.
    """
    edge = get_edge(shard_of(follower_id), follower_id, followee_id)
    if not edge.revision:
        return True
    try:
        mirrored = mirror_on_shard(shard_of(followee_id), {(follower_id, followee_id): edge})
        failpoint("relations.mirrored_now")
        redis().send(refresh_mirrored, items=[((follower_id, followee_id), mirrored)])
    except (*UNREACHABLE, RedisError) as error:
        reached("relations.mirror_left_to_drain")
        log.warning("relations.mirror_left_to_drain", account=followee_id, error=str(error))
        return False
    return True


def list_commands(mirrored: Mapping[int, MirroredFollowee]) -> list[Command]:
    """Bring the cached followers lists up to the rows. They may run twice or late."""
    # A list whose moves were postponed is dropped: its rows changed and its version did not.
    return [
        FOLLOWERS.drop_command(followee_id)
        if edge.version is None
        else FOLLOWERS.change_command(followee_id, _list_change(edge.version, edge.updated))
        for followee_id, edge in mirrored.items()
    ]


def _list_change(version: int, updated: Mapping[int, Edge]) -> ListChange:
    """Without an update the cached list has this version, or is older and is dropped."""
    added, removed = split_by_attribute(updated, OPEN_FOLLOWS)
    return list_change(version - 1 if updated else version, version, added, removed)


def _lock(
    alias: str,
    pairs: Collection[Pair],
    first: Sequence[Statement] = (),
    hot: Collection[Subject] = frozenset(),
) -> LockedEdges:
    """Locks the followers counts, then the backward edges; reads the opposite edges after that.

    `first`: statements that run before. `hot`: counts that are not locked. One round trip.
    """
    subjects = {(followee_id, ACCOUNT) for _, followee_id in pairs}
    followee_ids = sorted(owner for owner, _ in subjects - set(hot))
    replies = fetch_pipelined(
        alias,
        [
            *first,
            Statement(CREATE_COUNTS, (followee_ids,)),
            Statement(LOCK_COUNTS, (followee_ids,)),
            Statement(LOCK_BACKWARD, pair_columns(pairs)),
            Statement(LOAD_FORWARD, pair_columns(pair[::-1] for pair in pairs)),
            # After the rows: a row that was waited for may have come with a postponed move.
            find_postponed([(i, ACCOUNT) for i in followee_ids]),
        ],
    )
    versions, backward, opposites, postponed = replies[-4:]
    is_postponed = {owner for owner, _ in (*postponed, *subjects.intersection(hot))}
    return LockedEdges(dict(versions), edges_of(backward), edges_of(opposites), is_postponed)


def _find_updates(locked: LockedEdges, forward: Mapping[Pair, Edge]) -> dict[Pair, BackwardUpdate]:
    """The edges that are newer than their backward edge."""
    updates = {}
    for pair, edge in forward.items():
        old = locked.backward.get(pair, NO_EDGE)
        if edge.revision > old.revision:
            opposite = locked.opposites.get(pair[::-1], NO_EDGE)
            updates[pair] = BackwardUpdate(old, as_seen_by_followee(edge, opposite), opposite)
    return updates


def _end_follows_of_the_blocked(alias: str, updates: Mapping[Pair, BackwardUpdate]) -> None:
    """Ends the follows that the blocked accounts have of their blockers. Their rows are locked.

    A block that was taken back before it was mirrored ends those that began before its end: unblock
    restores nothing.
    """
    for (blocker_id, blocked_id), (old, new, opposite) in updates.items():
        if ends_follow(opposite, old, new):
            reached("relations.follow_ended_by_block")
            ended = step(opposite, Transition.UNFOLLOW, new.since_ms)
            write_edge(alias, blocked_id, blocker_id, opposite, ended)


def _write(
    alias: str, locked: LockedEdges, updates: Mapping[Pair, BackwardUpdate]
) -> dict[int, int | None]:
    """Writes the edges and moves their counts. Returns the new version of each followers list.

    Raises: EdgeJustMirrored. One round trip, and one more for each postponed followee.
    """
    moves = plan_follower_moves(updates, locked.postponed)
    written, *moved = fetch_pipelined(alias, [_write_statement(updates), *moves.statements(alias)])
    expected = {pair: pair not in locked.backward for pair in updates}
    if {(row[0], row[1]): row[2] for row in written} != expected:
        raise EdgeJustMirrored
    return moves.complete(alias, moved)


def _write_statement(updates: Mapping[Pair, BackwardUpdate]) -> Statement:
    rows = sorted((followee, follower, *u.new) for (follower, followee), u in updates.items())
    columns = [[int(value) for value in column] for column in zip(*rows, strict=True)]
    followees, followers, *facts = columns
    return Statement(WRITE_BACKWARD, [followers, followees, *facts])
