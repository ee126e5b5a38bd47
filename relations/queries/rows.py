"""The lists as the shards have them."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.types import Listed


class Side(NamedTuple):
    """One of the two tables, named from its owner's point of view."""

    table: str
    owner: str
    other: str


FORWARD = Side("relations_forwardedge", "follower_id", "followee_id")
BACKWARD = Side("relations_backwardedge", "followee_id", "follower_id")


def read_newest(
    side: Side, owner_id: int, below: Listed | None, above: Listed | None, limit: int
) -> list[Listed]:
    """At most `limit` live edges strictly between the bounds, newest first. One index-only scan."""
    return _read(side, owner_id, below, above, limit, "DESC")


def read_oldest_above(side: Side, owner_id: int, above: Listed, limit: int) -> list[Listed]:
    """The `limit` live edges right above the bound, newest first all the same."""
    return _read(side, owner_id, None, above, limit, "ASC")[::-1]


def _read(
    side: Side, owner_id: int, below: Listed | None, above: Listed | None, limit: int, order: str
) -> list[Listed]:
    bounds: list[int] = []
    sql = (
        f"SELECT since_ms, {side.other} FROM {side.table}"  # noqa: S608
        f" WHERE {side.owner} = %s AND attribute IN (1, 2)"
    )
    for bound, sign in ((below, "<"), (above, ">")):
        if bound is not None:
            sql += f" AND (since_ms, {side.other}) {sign} (%s, %s)"
            bounds += bound
    sql += f" ORDER BY since_ms {order}, {side.other} {order} LIMIT %s"
    rows = fetch_all(shard_of(owner_id), sql, [owner_id, *bounds, limit])
    return [Listed(*row) for row in rows]


def read_edges(side: Side, owner_id: int, others: Sequence[int]) -> set[int]:
    """Those of `others` with a live edge of this owner. One query by primary key."""
    sql = (
        f"SELECT {side.other} FROM {side.table}"  # noqa: S608
        f" WHERE {side.owner} = %s AND {side.other} = ANY(%s::bigint[]) AND attribute IN (1, 2)"
    )
    return {row[0] for row in fetch_all(shard_of(owner_id), sql, [owner_id, list(others)])}
