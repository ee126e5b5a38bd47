"""Both sides of edges as jobs read them: walked by key, or looked up by pair."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import transaction

from accounts.sql import account_exists
from infra.changes.sql import SELECT_PENDING
from infra.sharding.sql import execute, fetch_all
from relations.changes import EdgeChanged
from relations.jobs.edge_differences import EdgeSighting
from relations.queries.edges import Pair, edge_of, pair_columns
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, KIND, edge_table
from relations.types import Edge

COLUMNS = ("attribute", "revision", "since_ms", "flags")
FORWARD = edge_table(FORWARD_TABLE, COLUMNS)
BACKWARD = edge_table(BACKWARD_TABLE, COLUMNS)

PAIRS = "FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)"
EDGE = """pair.follower_id, pair.followee_id, coalesce(e.attribute, 0), coalesce(e.revision, 0),
    coalesce(e.since_ms, 0), coalesce(e.flags, 0)"""
ON_PAIR = f"""ON e.follower_id = pair.follower_id AND e.kind = {KIND}
    AND e.followee_id = pair.followee_id"""
# The account in the same snapshot: load_graph writes an account together with all its rows.
READ_BACKWARD = f"""
SELECT {EDGE}, {account_exists("pair.followee_id")}
{PAIRS} LEFT JOIN {BACKWARD_TABLE} e {ON_PAIR}
"""
# The forward edges of pairs, and whether a change of them is pending and not parked.
READ_FORWARD = f"""
SELECT {EDGE}, (pair.follower_id, pair.followee_id) IN (
    SELECT owner_id, (payload ->> 'followee_id')::bigint
    FROM ({SELECT_PENDING} AND kind = %s) AS pending
) {PAIRS} LEFT JOIN {FORWARD_TABLE} e {ON_PAIR}
"""  # noqa: S608


class BackwardSighting(NamedTuple):
    """The backward edge of a pair, NO_EDGE when there is none, and whether the followee exists."""

    edge: Edge
    has_account: bool


@contextmanager
def snapshot(alias: str) -> Iterator[None]:
    """All queries inside see the shard at the moment of the first one. Writes are refused."""
    with transaction.atomic(using=alias, durable=True):
        execute(alias, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def forward_of(rows: Iterable[Sequence[Any]]) -> dict[Pair, Edge]:
    """Rows of FORWARD by pair."""
    return {(row[0], row[2]): edge_of(row[3:]) for row in rows}


def backward_of(rows: Iterable[Sequence[Any]]) -> dict[Pair, Edge]:
    """Rows of BACKWARD by pair."""
    return {(row[2], row[0]): edge_of(row[3:]) for row in rows}


def read_backward_sightings(alias: str, pairs: Iterable[Pair]) -> dict[Pair, BackwardSighting]:
    """The backward edges of these pairs on the followees' shard, each pair present. One query."""
    rows = fetch_all(alias, READ_BACKWARD, pair_columns(pairs))
    return {(row[0], row[1]): BackwardSighting(edge_of(row[2:6]), row[6]) for row in rows}


def read_forward_sightings(alias: str, pairs: Iterable[Pair]) -> dict[Pair, EdgeSighting]:
    """The forward edges of followers of one shard, each pair present. One query, one snapshot."""
    rows = fetch_all(alias, READ_FORWARD, [EdgeChanged.kind, *pair_columns(pairs)])
    return {(row[0], row[1]): EdgeSighting(edge_of(row[2:6]), row[6]) for row in rows}
