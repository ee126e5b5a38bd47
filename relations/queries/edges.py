"""Edges by pair: the forward edge, which is the truth, and the backward edge, its mirror."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.changes.batch_rows import read_once
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all, fetch_one
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, KIND
from relations.types import NO_EDGE, Attribute, Edge, EdgeFlag

Pair = tuple[int, int]  # follower, followee


class KnownFollow(NamedTuple):
    """Whether an account follows another one, at `version` of its following list or later."""

    is_follow: bool
    version: int


_BOTH_SIDES = "attribute, revision, since_ms, flags"
_FORWARD = f"{_BOTH_SIDES}, languages"
FIND = f"""
SELECT {{columns}} FROM {{table}}
WHERE follower_id = %s AND kind = {KIND} AND followee_id = %s
"""  # noqa: S608
FIND_FORWARD = FIND.format(table=FORWARD_TABLE, columns=_FORWARD)
FIND_BACKWARD = FIND.format(table=BACKWARD_TABLE, columns=_BOTH_SIDES)
LOAD = f"""
SELECT follower_id, followee_id, {{columns}}
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
JOIN {{table}} e USING (follower_id, followee_id) WHERE e.kind = {KIND}
"""  # noqa: S608
LOAD_FORWARD = LOAD.format(table=FORWARD_TABLE, columns=_FORWARD)
LOAD_BACKWARD = LOAD.format(table=BACKWARD_TABLE, columns=_BOTH_SIDES)
LOCK_BACKWARD = f"{LOAD_BACKWARD} ORDER BY e.followee_id, e.follower_id FOR NO KEY UPDATE OF e"


def get_edge(alias: str, follower_id: int, followee_id: int) -> Edge:
    """The forward edge as it is now; NO_EDGE when there never was one. One query."""
    return _first(fetch_one(alias, FIND_FORWARD, (follower_id, followee_id)))


def get_backward_edge(alias: str, follower_id: int, followee_id: int) -> Edge:
    """The same edge as the followee's shard has it. One query."""
    return _first(fetch_one(alias, FIND_BACKWARD, (follower_id, followee_id)))


@read_once
def load_forward_edges(alias: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    """The forward edges of followers of one shard, as they are now. One query by key; consumers of
    one batch share it."""
    return _load(alias, LOAD_FORWARD, pairs)


def load_edges(pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    """The forward edges of followers of any shards. A query by key for each shard, at once."""
    by_shard: dict[str, set[Pair]] = {}
    for pair in pairs:
        by_shard.setdefault(shard_of(pair[0]), set()).add(pair)
    calls = {alias: partial(_load, alias, LOAD_FORWARD, some) for alias, some in by_shard.items()}
    return {pair: edge for edges in scatter(calls).values() for pair, edge in edges.items()}


def load_backward_edges(alias: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    """The same edges as the shard of the followees has them. One query by key."""
    return _load(alias, LOAD_BACKWARD, pairs)


def load_follows(alias: str, pairs: Iterable[Pair]) -> dict[Pair, KnownFollow]:
    """Whether followers of one shard follow, and since which versions of their lists. Two queries.

    The versions are read first: an edge may be newer than its version, never older. So the edges
    are read here, and not taken from an earlier consumer of the batch.
    """
    wanted = set(pairs)
    counts = read_counts(alias, [follower for follower, _ in wanted], [CounterKind.FOLLOWING])
    edges = _load(alias, LOAD_FORWARD, wanted)
    return {
        pair: KnownFollow(
            edges.get(pair, NO_EDGE).is_follow, counts[pair[0]][CounterKind.FOLLOWING].version
        )
        for pair in wanted
    }


def edge_of(columns: Sequence[Any]) -> Edge:
    """From attribute, revision, since_ms, flags; of a forward edge also languages."""
    attribute, revision, since_ms, flags, *languages = columns
    spoken = tuple(languages[0] or ()) if languages else ()
    return Edge(Attribute(attribute), revision, since_ms, EdgeFlag(flags), spoken)


def pair_columns(pairs: Iterable[Pair]) -> list[list[int]]:
    """The followers and the followees, as parameters of a query."""
    return [list(column) for column in zip(*pairs, strict=True)] or [[], []]


def group_by_follower_shard(edges: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    return _group(edges, side=0)


def group_by_followee_shard(edges: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    return _group(edges, side=1)


def _first(row: Sequence[Any] | None) -> Edge:
    return edge_of(row) if row else NO_EDGE


def edges_of(rows: Iterable[Sequence[Any]]) -> dict[Pair, Edge]:
    """From rows of LOAD_FORWARD or LOCK_BACKWARD."""
    return {(row[0], row[1]): edge_of(row[2:]) for row in rows}


def _load(alias: str, sql: str, pairs: Iterable[Pair]) -> dict[Pair, Edge]:
    return edges_of(fetch_all(alias, sql, pair_columns(pairs)))


def _group(edges: Mapping[Pair, Edge], side: int) -> dict[str, dict[Pair, Edge]]:
    groups: dict[str, dict[Pair, Edge]] = {}
    for pair, edge in edges.items():
        groups.setdefault(shard_of(pair[side]), {})[pair] = edge
    return groups
