"""Edge lists as the shards have them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.replicas import read_replica_or_shard, settled_before
from infra.sharding.sql import fetch_all
from relations.sql import (
    BACKWARD_TABLE,
    FORWARD_TABLE,
    IS_FOLLOW,
    IS_NOTIFIED,
    IS_REQUEST,
    KIND,
    MUTES_TABLE,
)
from relations.types import Attribute, EdgeFlag, ListedAccount


class EdgeRows(NamedTuple):
    """The rows of one table that make up a list.

    `owner`: the column of the list's owner; `other`: of the listed account. `live`: the condition
    of the rows, with their kind; an index in relations.models serves it.
    """

    table: str
    owner: str
    other: str
    live: str


_FORWARD = (FORWARD_TABLE, "follower_id", "followee_id")
_BACKWARD = (BACKWARD_TABLE, "followee_id", "follower_id")
_KIND = f"kind = {KIND}"
_FOLLOWS = f"{_KIND} AND {IS_FOLLOW}"
_OPEN = f"{_KIND} AND attribute = {Attribute.FOLLOW:d}"
_QUIET = f"{_KIND} AND attribute = {Attribute.WHISPER:d}"

FORWARD = EdgeRows(*_FORWARD, live=_FOLLOWS)
FORWARD_OPEN = EdgeRows(*_FORWARD, live=_OPEN)
FORWARD_QUIET = EdgeRows(*_FORWARD, live=_QUIET)
FORWARD_BLOCKS = EdgeRows(*_FORWARD, live=f"{_KIND} AND attribute = {Attribute.BLACK:d}")
# Reads up to FOLLOW_CAP index entries. Only the owner reads this list.
FORWARD_SPECIAL = EdgeRows(*_FORWARD, live=f"{_FOLLOWS} AND flags & {EdgeFlag.SPECIAL:d} <> 0")
_IS_ENDORSED = f"flags >= {EdgeFlag.ENDORSED:d}"  # as the condition of the index
FORWARD_ENDORSED = EdgeRows(*_FORWARD, live=f"{_FOLLOWS} AND {_IS_ENDORSED}")
FORWARD_ENDORSED_OPEN = EdgeRows(*_FORWARD, live=f"{_OPEN} AND {_IS_ENDORSED}")
BACKWARD = EdgeRows(*_BACKWARD, live=_FOLLOWS)
BACKWARD_OPEN = EdgeRows(*_BACKWARD, live=_OPEN)
BACKWARD_QUIET = EdgeRows(*_BACKWARD, live=_QUIET)
BACKWARD_NOTIFIED = EdgeRows(*_BACKWARD, live=f"{_KIND} AND {IS_NOTIFIED}")
BACKWARD_REQUESTS = EdgeRows(*_BACKWARD, live=f"{_KIND} AND {IS_REQUEST}")


def muted_at(now_ms: int) -> EdgeRows:
    """Mutes that have not ended."""
    live = f"{_KIND} AND is_on AND (until_ms = 0 OR until_ms > {now_ms:d})"
    return EdgeRows(MUTES_TABLE, "owner_id", "target_id", live)


def read_mute_ends(owner_id: int, targets: Sequence[int]) -> dict[int, int]:
    """`until_ms` of mutes, by target. One query by primary key."""
    sql = (
        f"SELECT target_id, until_ms FROM {MUTES_TABLE}"  # noqa: S608
        f" WHERE owner_id = %s AND {_KIND} AND target_id = ANY(%s::bigint[])"
    )
    return dict(fetch_all(shard_of(owner_id), sql, [owner_id, list(targets)]))


def read_newest(
    rows: EdgeRows,
    owner_id: int,
    below: ListedAccount | None,
    above: ListedAccount | None,
    limit: int,
) -> list[ListedAccount]:
    """At most `limit` rows strictly between the bounds, newest first.

    Cost: one index-only scan, except for FORWARD_SPECIAL. The scan skips the entries of the index
    that `live` excludes.
    """
    return _read(shard_of(owner_id), rows, owner_id, below, above, limit, "DESC")


def read_deep(
    rows: EdgeRows, owner_id: int, below: ListedAccount, limit: int, now_s: float
) -> list[ListedAccount]:
    """As `read_newest` below a bound; for old rows the shard's replica may answer.

    Then a row that ended may still be listed, for as long as a replica may lag. No row is missing.
    """
    read = partial(
        _read, rows=rows, owner_id=owner_id, below=below, above=None, limit=limit, order="DESC"
    )
    alias = shard_of(owner_id)
    is_old = below.since_ms < settled_before(now_s) * 1000
    return read_replica_or_shard(alias, read) if is_old else read(alias)


def read_oldest_above(
    rows: EdgeRows, owner_id: int, above: ListedAccount, limit: int
) -> list[ListedAccount]:
    """The `limit` oldest rows newer than the bound, newest first."""
    return _read(shard_of(owner_id), rows, owner_id, None, above, limit, "ASC")[::-1]


def _read(
    alias: str,
    rows: EdgeRows,
    owner_id: int,
    below: ListedAccount | None,
    above: ListedAccount | None,
    limit: int,
    order: str,
) -> list[ListedAccount]:
    bounds: list[int] = []
    sql = (
        f"SELECT since_ms, {rows.other} FROM {rows.table}"  # noqa: S608
        f" WHERE {rows.owner} = %s AND {rows.live}"
    )
    for bound, sign in ((below, "<"), (above, ">")):
        if bound is not None:
            sql += f" AND (since_ms, {rows.other}) {sign} (%s, %s)"
            bounds += bound
    sql += f" ORDER BY since_ms {order}, {rows.other} {order} LIMIT %s"
    members = fetch_all(alias, sql, [owner_id, *bounds, limit])
    return [ListedAccount(*row) for row in members]


def read_follows(owner_id: int) -> Mapping[ListedAccount, Attribute]:
    """All follows of an account, newest first, with their state. One index-only scan."""
    sql = (
        f"SELECT since_ms, followee_id, attribute FROM {FORWARD.table}"  # noqa: S608
        f" WHERE follower_id = %s AND {FORWARD.live} ORDER BY since_ms DESC, followee_id DESC"
    )
    rows: Sequence[Any] = fetch_all(shard_of(owner_id), sql, [owner_id])
    return {ListedAccount(since_ms, other): Attribute(state) for since_ms, other, state in rows}
