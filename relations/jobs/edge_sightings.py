"""Both sides of edges as jobs read them: walked by key, or looked up for pairs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from infra.jobs.walk import Table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.mirror import Pair
from relations.changes import EdgeChanged
from relations.jobs.edge_differences import EdgeSighting
from relations.types import Attribute, Edge, EdgeFlag

FACTS = ("attribute", "revision", "since_ms", "flags")
FORWARD = Table("relations_forwardedge", key=("follower_id", "followee_id"), columns=FACTS)
BACKWARD = Table("relations_backwardedge", key=("followee_id", "follower_id"), columns=FACTS)

# All of one snapshot. The account with them: load_graph lays one together with all its rows.
READ_BACKWARD = """
SELECT pair.follower_id, pair.followee_id, coalesce(e.attribute, 0), coalesce(e.revision, 0),
    coalesce(e.since_ms, 0), coalesce(e.flags, 0), account.id IS NOT NULL
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
LEFT JOIN relations_backwardedge e USING (follower_id, followee_id)
LEFT JOIN accounts_account account ON account.id = pair.followee_id
"""
# The forward edges of pairs, and whether changes of them wait; parked ones are not on their way.
READ_SIGHTS = """
SELECT pair.follower_id, pair.followee_id, coalesce(e.attribute, 0), coalesce(e.revision, 0),
    coalesce(e.since_ms, 0), coalesce(e.flags, 0), (pair.follower_id, pair.followee_id) IN (
        SELECT owner_id, (payload ->> 'followee_id')::bigint FROM changes_change
        WHERE state = 0 AND kind = %s
    )
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
LEFT JOIN relations_forwardedge e USING (follower_id, followee_id)
"""


class BackwardSighting(NamedTuple):
    """The backward edge of a pair, NO_EDGE when there is none; whether the followee exists."""

    edge: Edge
    has_account: bool


def edge_of(facts: Sequence[int]) -> Edge:
    attribute, revision, since_ms, flags = facts
    return Edge(Attribute(attribute), revision, since_ms, EdgeFlag(flags))


def forward_of(rows: Iterable[Sequence[Any]]) -> dict[Pair, Edge]:
    """Rows of FORWARD by pair."""
    return {(row[0], row[1]): edge_of(row[2:6]) for row in rows}


def backward_of(rows: Iterable[Sequence[Any]]) -> dict[Pair, Edge]:
    """Rows of BACKWARD by pair."""
    return {(row[1], row[0]): edge_of(row[2:6]) for row in rows}


def read_backward_sightings(alias: str, pairs: Iterable[Pair]) -> dict[Pair, BackwardSighting]:
    """What the followees' shard has of these pairs, every pair present. One query by key."""
    rows = fetch_all(alias, READ_BACKWARD, columns_of(pairs))
    return {(row[0], row[1]): BackwardSighting(edge_of(row[2:6]), row[6]) for row in rows}


def read_forward_sightings(alias: str, pairs: Iterable[Pair]) -> dict[Pair, EdgeSighting]:
    """Forward edges of followers of one shard, every pair present, in one snapshot. One query."""
    rows = fetch_all(alias, READ_SIGHTS, [EdgeChanged.kind, *columns_of(pairs)])
    return {(row[0], row[1]): EdgeSighting(edge_of(row[2:6]), row[6]) for row in rows}


def columns_of(pairs: Iterable[Pair]) -> list[list[int]]:
    return [list(column) for column in zip(*pairs, strict=True)] or [[], []]


def group_by_follower_shard(edges: Mapping[Pair, Edge]) -> dict[str, dict[Pair, Edge]]:
    groups: dict[str, dict[Pair, Edge]] = {}
    for pair, edge in edges.items():
        groups.setdefault(shard_of(pair[0]), {})[pair] = edge
    return groups
