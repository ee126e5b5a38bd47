"""Reading and writing one forward edge inside its owner's transaction."""

from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import ACCOUNT, Count, Move
from infra.changes.append import append_change
from infra.sharding.sql import execute, fetch_one
from relations.changes import EdgeChanged
from relations.types import NO_EDGE, Attribute, Edge

READ = """
SELECT attribute, revision, since_ms FROM relations_forwardedge
WHERE follower_id = %s AND followee_id = %s
"""
WRITE = """
INSERT INTO relations_forwardedge
    (follower_id, followee_id, attribute, revision, since_ms) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (follower_id, followee_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision, since_ms = excluded.since_ms
"""


def read_edge(alias: str, follower_id: int, followee_id: int) -> Edge:
    """The edge as it is now; NO_EDGE when there never was one. One query."""
    row = fetch_one(alias, READ, (follower_id, followee_id))
    return Edge(Attribute(row[0]), row[1], row[2]) if row else NO_EDGE


def write_edge(alias: str, follower_id: int, followee_id: int, edge: Edge, delta: int) -> Count:
    """Writes the edge, moves the follower's following count and appends the change.

    The caller holds the follower's row lock. Returns the following count after; its version is
    the version of the following list. Cost: three statements.
    """
    execute(alias, WRITE, (follower_id, followee_id, edge.attribute, edge.revision, edge.since_ms))
    moved = move(alias, [Move(follower_id, CounterKind.FOLLOWING, delta)])
    following = moved[follower_id, ACCOUNT, CounterKind.FOLLOWING]
    change = EdgeChanged(followee_id, before=following.version - 1, after=following.version)
    append_change(alias, follower_id, change)
    return following
