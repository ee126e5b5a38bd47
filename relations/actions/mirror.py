"""The derived side: backward edges and follower counts, written from forward edges."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction

from accounts.actions.lock_account import lock_accounts
from counters.actions.move import move
from counters.cache import refresh_account_counts
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from counters.types import Move
from infra.caching.client import Command, redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.cache import FOLLOWERS, list_change, split
from relations.types import NO_EDGE, Attribute, Edge

Pair = tuple[int, int]  # follower, followee

READ = """
SELECT e.follower_id, e.followee_id, e.attribute, e.revision, e.since_ms
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
JOIN {table} e USING (follower_id, followee_id)
"""
READ_FORWARD = READ.format(table="relations_forwardedge")
READ_BACKWARD = READ.format(table="relations_backwardedge")
WRITE_BACKWARD = """
INSERT INTO relations_backwardedge AS old
    (follower_id, followee_id, attribute, revision, since_ms)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
ON CONFLICT (followee_id, follower_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision, since_ms = excluded.since_ms
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
    Cost: five statements for any number of edges.
    """
    followee_ids = sorted({followee_id for _, followee_id in forward})
    with transaction.atomic(using=alias):
        lock_accounts(alias, followee_ids)
        old = _read(alias, READ_BACKWARD, forward)
        news = {p: e for p, e in forward.items() if e.revision > old.get(p, NO_EDGE).revision}
        if news:
            _write(alias, news)
            move(alias, (_move(pair, old.get(pair, NO_EDGE), edge) for pair, edge in news.items()))
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
    change = list_change(before, mirrored.version, *split(mirrored.news))
    return FOLLOWERS.change_command(followee_id, change)


def by_followee_shard(forward: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    groups: dict[str, dict[Pair, Edge]] = {}
    for pair, edge in forward.items():
        groups.setdefault(shard_of(pair[1]), {})[pair] = edge
    return groups


def _move(pair: Pair, old: Edge, new: Edge) -> Move:
    delta = (new.attribute is Attribute.FOLLOW) - (old.attribute is Attribute.FOLLOW)
    return Move(pair[1], CounterKind.FOLLOWERS, delta)


def _read(alias: str, sql: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    columns: Sequence[Sequence[int]] = [list(c) for c in zip(*pairs, strict=True)] or [[], []]
    return {(r[0], r[1]): Edge(Attribute(r[2]), r[3], r[4]) for r in fetch_all(alias, sql, columns)}


def _write(alias: str, edges: Mapping[Pair, Edge]) -> None:
    rows = sorted((followee, follower, *edge) for (follower, followee), edge in edges.items())
    followees, followers, attributes, revisions, since = map(list, zip(*rows, strict=True))
    numbers = [int(attribute) for attribute in attributes]
    execute(alias, WRITE_BACKWARD, [followers, followees, numbers, revisions, since])
