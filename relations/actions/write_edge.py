"""Writing one forward edge inside its owner's transaction."""

from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import ACCOUNT, Count
from infra.changes.append import append_change
from infra.sharding.sql import execute
from relations.changes import EdgeChanged
from relations.counter_rows import FORWARD_KINDS, iter_moves
from relations.sql import FORWARD_TABLE, KIND
from relations.types import Edge

WRITE = f"""
INSERT INTO {FORWARD_TABLE}
    (follower_id, kind, followee_id, attribute, revision, since_ms, flags)
VALUES (%s, {KIND}, %s, %s, %s, %s, %s)
ON CONFLICT (follower_id, kind, followee_id) DO UPDATE SET
    attribute = excluded.attribute, revision = excluded.revision,
    since_ms = excluded.since_ms, flags = excluded.flags
"""  # noqa: S608


def write_edge(alias: str, follower_id: int, followee_id: int, old: Edge, new: Edge) -> Count:
    """Writes the edge, moves its owner's counts and appends the change.

    The caller holds the follower's row lock. Returns the following count after the write. The
    version of that count is the version of the following list, and grows with every edge.
    Cost: three statements.
    """
    row = (new.attribute, new.revision, new.since_ms, new.flags)
    execute(alias, WRITE, (follower_id, followee_id, *map(int, row)))
    moves = iter_moves(FORWARD_KINDS, CounterKind.FOLLOWING, follower_id, old, new)
    following = move(alias, moves)[follower_id, ACCOUNT, CounterKind.FOLLOWING]
    change = EdgeChanged(followee_id, before=following.version - 1, after=following.version)
    append_change(alias, follower_id, change)
    return following
