"""The derived side: backward edges and follower counts, written from forward edges.

A block is mirrored too, and ends the follow that faces it: both lie on the blocked one's shard.
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
from counters.types import Move
from infra.caching.client import Command, redis
from infra.changes.errors import UNREACHABLE
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.edges import BACKWARD_KINDS, iter_moves, read_edge, write_edge
from relations.cache import FOLLOWERS, OPEN, list_change, split
from relations.states import Act, step
from relations.types import NO_EDGE, Attribute, Edge, Flag

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


class Mirrored(NamedTuple):
    """One followee after mirroring: the followers list's version, and which edges were news."""

    version: int
    news: dict[int, Edge]  # by follower


def read_forward(alias: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    """The forward edges of followers of one shard, as they are now. One query by key."""
    return _read(alias, READ_FORWARD, pairs)


def mirror_on_shard(alias: str, forward: Mapping[Pair, Edge]) -> dict[int, Mirrored]:
    """Writes those of the edges that are newer than what the followees' shard has.

    Returns every followee concerned, also those without news. Safety: one transaction; followees
    are locked in order, so what the row was before is known and each edge is counted once.
    Cost: five statements for any number of edges, four more for each block that ends a follow.
    """
    followee_ids = sorted({followee_id for _, followee_id in forward})
    with transaction.atomic(using=alias):
        lock_accounts(alias, followee_ids)
        old = _read(alias, READ_BACKWARD, forward)
        news = {p: e for p, e in forward.items() if e.revision > old.get(p, NO_EDGE).revision}
        if news:
            _write(alias, news)
            move(
                alias,
                chain.from_iterable(_moves(p, old.get(p, NO_EDGE), e) for p, e in news.items()),
            )
            _end_follows_of_the_blocked(alias, news)
        counts = read_counts(alias, followee_ids, [CounterKind.FOLLOWERS])
    mirrored = {i: Mirrored(counts[i][CounterKind.FOLLOWERS].version, {}) for i in followee_ids}
    for (follower_id, followee_id), edge in news.items():
        mirrored[followee_id].news[follower_id] = edge
    return mirrored


def refresh_followers(mirrored: Mapping[int, Mirrored]) -> None:
    """Brings followers lists and counts up to the rows. Raises RedisError: the drain retries."""
    redis().run([_list_command(followee_id, m) for followee_id, m in mirrored.items()])
    refresh_account_counts(mirrored)


def _list_command(followee_id: int, mirrored: Mirrored) -> Command:
    """Without news the list is at this version already, or is dropped for being behind."""
    before = mirrored.version - 1 if mirrored.news else mirrored.version
    change = list_change(before, mirrored.version, *split(mirrored.news, OPEN))
    return FOLLOWERS.change_command(followee_id, change)


def by_followee_shard(forward: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    groups: dict[str, dict[Pair, Edge]] = {}
    for pair, edge in forward.items():
        groups.setdefault(shard_of(pair[1]), {})[pair] = edge
    return groups


def mirror_at_once(follower_id: int, followee_id: int) -> None:
    """Mirrors one edge now, for actors who see its other side. What fails is done by the drain."""
    edge = read_edge(shard_of(follower_id), follower_id, followee_id)
    if not edge.revision:
        return
    try:
        mirrored = mirror_on_shard(shard_of(followee_id), {(follower_id, followee_id): edge})
        refresh_followers(mirrored)
    except (*UNREACHABLE, RedisError) as error:
        log.warning("relations.mirror_left_to_drain", account=followee_id, error=str(error))


def _end_follows_of_the_blocked(alias: str, news: Mapping[Pair, Edge]) -> None:
    """The blocked accounts' own follows of those who block them; their rows are locked."""
    for (blocker_id, blocked_id), edge in news.items():
        if edge.attribute is Attribute.BLACK:
            facing = read_edge(alias, blocked_id, blocker_id)
            ended = step(facing, Act.UNFOLLOW, edge.since_ms)
            if ended != facing:
                write_edge(alias, blocked_id, blocker_id, facing, ended)


def _moves(pair: Pair, old: Edge, new: Edge) -> Iterable[Move]:
    return iter_moves(BACKWARD_KINDS, CounterKind.FOLLOWERS, pair[1], old, new)


def _read(alias: str, sql: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    columns: Sequence[Sequence[int]] = [list(c) for c in zip(*pairs, strict=True)] or [[], []]
    rows = fetch_all(alias, sql, columns)
    return {(r[0], r[1]): Edge(Attribute(r[2]), r[3], r[4], Flag(r[5])) for r in rows}


def _write(alias: str, edges: Mapping[Pair, Edge]) -> None:
    rows = sorted((followee, follower, *edge) for (follower, followee), edge in edges.items())
    columns = [[int(value) for value in column] for column in zip(*rows, strict=True)]
    followees, followers, *facts = columns
    execute(alias, WRITE_BACKWARD, [followers, followees, *facts])
