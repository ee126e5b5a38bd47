"""The derived side: backward edges and follower counts, written from forward edges.

A block is mirrored too, and ends the follow that faces it: both lie on the blocked one's shard.
On the blocker's own shard that follow is hidden with the block (`hide_follower`, `as_faced`).
"""

from collections.abc import Iterable, Mapping, Sequence
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
from infra.sharding.sql import execute, fetch_all
from relations.actions.edges import (
    BACKWARD_KINDS,
    iter_moves,
    read_backward_edge,
    read_edge,
    write_edge,
)
from relations.cache import (
    FOLLOWERS,
    OPEN_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.states import Transition, as_seen_by_followee, count_blocks, step
from relations.types import NO_EDGE, Attribute, Edge, EdgeFlag

log = structlog.get_logger()

Pair = tuple[int, int]  # follower, followee

READ = """
SELECT e.follower_id, e.followee_id, e.attribute, e.revision, e.since_ms, e.flags
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
JOIN {table} e USING (follower_id, followee_id)
"""
READ_FORWARD = READ.format(table="relations_forwardedge")
READ_BACKWARD = READ.format(table="relations_backwardedge")
WRITE_BACKWARD = """
INSERT INTO relations_backwardedge AS old
    (follower_id, followee_id, attribute, revision, since_ms, flags)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[], %s::smallint[])
ON CONFLICT (followee_id, follower_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision, since_ms = excluded.since_ms,
    flags = excluded.flags
WHERE old.revision < excluded.revision
"""
HIDE_BACKWARD = """
UPDATE relations_backwardedge SET attribute = 0, flags = 0
WHERE followee_id = %s AND follower_id = %s
"""


class BackwardUpdate(NamedTuple):
    """An edge as the followee's shard had it and will have it, and the edge that faces it."""

    old: Edge
    new: Edge
    facing: Edge


class MirroredFollowee(NamedTuple):
    """One followee after mirroring: the followers list's version, and which edges were news."""

    version: int
    news: dict[int, Edge]  # by follower


def read_forward(alias: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    """The forward edges of followers of one shard, as they are now. One query by key."""
    return _read(alias, READ_FORWARD, pairs)


def mirror_on_shard(alias: str, forward: Mapping[Pair, Edge]) -> dict[int, MirroredFollowee]:
    """Writes those of the edges that are newer than what the followees' shard has.

    Returns every followee concerned, also those without news. Safety: one transaction; followees
    are locked in order, so what the row was before is known and each edge is counted once.
    Cost: six statements for any number of edges, four more for each block that ends a follow.
    """
    followee_ids = sorted({followee_id for _, followee_id in forward})
    with transaction.atomic(using=alias):
        lock_accounts(alias, followee_ids)
        news = _find_news(alias, forward)
        if news:
            _write(alias, {pair: one.new for pair, one in news.items()})
            move(alias, chain.from_iterable(_moves(p, n.old, n.new) for p, n in news.items()))
            _end_follows_of_the_blocked(alias, news)
        counts = read_counts(alias, followee_ids, [CounterKind.FOLLOWERS])
    mirrored = {
        i: MirroredFollowee(counts[i][CounterKind.FOLLOWERS].version, {}) for i in followee_ids
    }
    for (follower_id, followee_id), one in news.items():
        mirrored[followee_id].news[follower_id] = one.new
    return mirrored


def hide_follower(alias: str, follower_id: int, followee_id: int) -> dict[int, MirroredFollowee]:
    """Takes a follower off the side of the followee who blocks them, within the block.

    The caller holds the followee's row lock. Returns what `refresh_followers` takes, nothing when
    there was no follow. Cost: one query, three statements more when there was one.
    """
    old = read_backward_edge(alias, follower_id, followee_id)
    hidden = as_seen_by_followee(old, read_edge(alias, followee_id, follower_id))
    if hidden == old:
        return {}
    execute(alias, HIDE_BACKWARD, (followee_id, follower_id))
    counts = move(alias, _moves((follower_id, followee_id), old, hidden))
    version = counts[followee_id, ACCOUNT, CounterKind.FOLLOWERS].version
    return {followee_id: MirroredFollowee(version, {follower_id: hidden})}


def refresh_followers(mirrored: Mapping[int, MirroredFollowee]) -> None:
    """Brings followers lists and counts up to the rows. Raises RedisError: the drain retries."""
    redis().run([_list_command(followee_id, m) for followee_id, m in mirrored.items()])
    refresh_account_counts(mirrored)


def _list_command(followee_id: int, mirrored: MirroredFollowee) -> Command:
    """Without news the list is at this version already, or is dropped for being behind."""
    before = mirrored.version - 1 if mirrored.news else mirrored.version
    change = list_change(before, mirrored.version, *split_by_attribute(mirrored.news, OPEN_FOLLOWS))
    return FOLLOWERS.change_command(followee_id, change)


def group_by_followee_shard(forward: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    groups: dict[str, dict[Pair, Edge]] = {}
    for pair, edge in forward.items():
        groups.setdefault(shard_of(pair[1]), {})[pair] = edge
    return groups


def mirror_now(follower_id: int, followee_id: int) -> bool:
    """Mirrors one edge now, for actors who see its other side. False: it is left to the drain."""
    edge = read_edge(shard_of(follower_id), follower_id, followee_id)
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


def _find_news(alias: str, forward: Mapping[Pair, Edge]) -> dict[Pair, BackwardUpdate]:
    """Those of the edges that are newer than what is here; their followees are locked."""
    old = _read(alias, READ_BACKWARD, forward)
    newer = {p: e for p, e in forward.items() if e.revision > old.get(p, NO_EDGE).revision}
    facing = _read(alias, READ_FORWARD, [(followee, follower) for follower, followee in newer])
    news = {}
    for (follower, followee), edge in newer.items():
        faces = facing.get((followee, follower), NO_EDGE)
        before = old.get((follower, followee), NO_EDGE)
        news[follower, followee] = BackwardUpdate(before, as_seen_by_followee(edge, faces), faces)
    return news


def _end_follows_of_the_blocked(alias: str, news: Mapping[Pair, BackwardUpdate]) -> None:
    """The blocked accounts' own follows of those who block them; their rows are locked.

    Also of a block that was taken back before this shard heard of it: unblock restores nothing.
    """
    for (blocker_id, blocked_id), (old, new, facing) in news.items():
        if count_blocks(new) > count_blocks(old) and facing.is_follow:
            ended = step(facing, Transition.UNFOLLOW, new.since_ms)
            write_edge(alias, blocked_id, blocker_id, facing, ended)


def _moves(pair: Pair, old: Edge, new: Edge) -> Iterable[CountMove]:
    return iter_moves(BACKWARD_KINDS, CounterKind.FOLLOWERS, pair[1], old, new)


def _read(alias: str, sql: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    columns: Sequence[Sequence[int]] = [list(c) for c in zip(*pairs, strict=True)] or [[], []]
    rows = fetch_all(alias, sql, columns)
    return {(r[0], r[1]): Edge(Attribute(r[2]), r[3], r[4], EdgeFlag(r[5])) for r in rows}


def _write(alias: str, edges: Mapping[Pair, Edge]) -> None:
    rows = sorted((followee, follower, *edge) for (follower, followee), edge in edges.items())
    columns = [[int(value) for value in column] for column in zip(*rows, strict=True)]
    followees, followers, *facts = columns
    execute(alias, WRITE_BACKWARD, [followers, followees, *facts])
