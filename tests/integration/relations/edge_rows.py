"""Writes edges straight into the tables: lists of any shape, without a follow for each."""

import dataclasses
from collections.abc import Sequence

from counters.kinds import CounterKind
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.queries.edge_lists import EdgeList
from relations.types import Attribute, ListedAccount

EDGES = """
INSERT INTO {rows.table} ({rows.owner}, {rows.other}, attribute, revision, since_ms)
SELECT %s, other, %s, 1, since_ms FROM unnest(%s::bigint[], %s::bigint[]) AS x (other, since_ms)
"""
COUNT = """
INSERT INTO counters_counter (owner_id, subject, kind, value, version) VALUES (%s, 0, %s, %s, 1)
"""
KINDS = {
    "relations_forwardedge": CounterKind.FOLLOWING,
    "relations_backwardedge": CounterKind.FOLLOWERS,
}


def write_edges(
    edge_list: EdgeList,
    owner_id: int,
    items: Sequence[ListedAccount],
    attribute: Attribute = Attribute.FOLLOW,
) -> None:
    alias = shard_of(owner_id)
    others, since = [i.account_id for i in items], [i.since_ms for i in items]
    sql = EDGES.format(rows=edge_list.rows)
    execute(alias, sql, (owner_id, int(attribute), others, since))


def write_list(edge_list: EdgeList, owner_id: int, items: Sequence[ListedAccount]) -> None:
    """The edges, and the count that gives the version of their list."""
    write_edges(edge_list, owner_id, items)
    execute(shard_of(owner_id), COUNT, (owner_id, int(KINDS[edge_list.rows.table]), len(items)))


def cut(edge_list: EdgeList, most: int) -> EdgeList:
    """The same list where Redis keeps the newest few only."""
    assert edge_list.tier is not None
    small = edge_list.tier.cache._replace(max_items=most)
    return dataclasses.replace(edge_list, tier=dataclasses.replace(edge_list.tier, cache=small))
