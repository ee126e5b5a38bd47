"""Reading and writing one forward edge inside its owner's transaction."""

from collections.abc import Iterator, Mapping, Sequence

from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import ACCOUNT, Count, CountMove
from infra.changes.append import append_change
from infra.sharding.sql import execute, fetch_one
from relations.changes import EdgeChanged
from relations.types import NO_EDGE, Attribute, Edge, EdgeFlag

READ = """
SELECT attribute, revision, since_ms, flags FROM {table}
WHERE follower_id = %s AND followee_id = %s
"""
READ_FORWARD = READ.format(table="relations_forwardedge")
READ_BACKWARD = READ.format(table="relations_backwardedge")
WRITE = """
INSERT INTO relations_forwardedge
    (follower_id, followee_id, attribute, revision, since_ms, flags)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (follower_id, followee_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision,
    since_ms = excluded.since_ms, flags = excluded.flags
"""
Kinds = Mapping[Attribute, Sequence[CounterKind]]

# Which counts an edge is part of, on either side.
FORWARD_KINDS: Kinds = {
    Attribute.NONE: (),
    Attribute.FOLLOW: (CounterKind.FOLLOWING,),
    Attribute.WHISPER: (CounterKind.FOLLOWING, CounterKind.QUIET_FOLLOWING),
    Attribute.BLACK: (CounterKind.BLOCKED,),
}
BACKWARD_KINDS: Kinds = {
    Attribute.NONE: (),
    Attribute.FOLLOW: (CounterKind.FOLLOWERS,),
    Attribute.WHISPER: (CounterKind.FOLLOWERS, CounterKind.QUIET_FOLLOWERS),
    Attribute.BLACK: (),
}


def read_edge(alias: str, follower_id: int, followee_id: int) -> Edge:
    """The forward edge as it is now; NO_EDGE when there never was one. One query."""
    return _edge(fetch_one(alias, READ_FORWARD, (follower_id, followee_id)))


def read_backward_edge(alias: str, follower_id: int, followee_id: int) -> Edge:
    """The same edge as the followee's shard knows it. One query."""
    return _edge(fetch_one(alias, READ_BACKWARD, (follower_id, followee_id)))


def write_edge(alias: str, follower_id: int, followee_id: int, old: Edge, new: Edge) -> Count:
    """Writes the edge, moves its owner's counts and appends the change.

    The caller holds the follower's row lock. Returns the following count after; its version is
    the version of the following list, and grows with every edge. Cost: three statements.
    """
    row = (new.attribute, new.revision, new.since_ms, new.flags)
    execute(alias, WRITE, (follower_id, followee_id, *map(int, row)))
    moves = iter_moves(FORWARD_KINDS, CounterKind.FOLLOWING, follower_id, old, new)
    following = move(alias, moves)[follower_id, ACCOUNT, CounterKind.FOLLOWING]
    change = EdgeChanged(followee_id, before=following.version - 1, after=following.version)
    append_change(alias, follower_id, change)
    return following


def iter_moves(
    kinds: Kinds, list_kind: CounterKind, owner_id: int, old: Edge, new: Edge
) -> Iterator[CountMove]:
    """The moves of one edge's counts, and one by zero for the version of the list it is on."""
    yield CountMove(owner_id, list_kind, 0)
    for kind in kinds[old.attribute]:
        yield CountMove(owner_id, kind, -1)
    for kind in kinds[new.attribute]:
        yield CountMove(owner_id, kind, +1)


def _edge(row: Sequence[int] | None) -> Edge:
    return Edge(Attribute(row[0]), row[1], row[2], EdgeFlag(row[3])) if row else NO_EDGE
