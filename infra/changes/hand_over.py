"""Gives the undelivered changes of accounts that move to the database to which they move.

A change that is delivered twice does no harm, because consumers act on rows as they are. So the
rows are written there first and deleted here then, and a process that dies in between repeats it.
"""

from infra.changes.wake_up import wake
from infra.sharding.sql import execute, fetch_all

READ = """
SELECT id, lane, kind, owner_id, payload::text, created_at, state, attempts, next_attempt_at, error,
    is_waiting
FROM changes_change WHERE {condition} ORDER BY id
"""
# New ids, in the same order. Rows that wait, and parked and paused ones, stay what they are.
WRITE = """
INSERT INTO changes_change (lane, kind, owner_id, payload, created_at, state, attempts,
    next_attempt_at, error, is_waiting)
SELECT lane, kind, owner_id, payload::jsonb, created_at, state, attempts, next_attempt_at, error,
    is_waiting
FROM unnest(%s::smallint[], %s::text[], %s::bigint[], %s::text[], %s::timestamptz[], %s::smallint[],
    %s::int[], %s::timestamptz[], %s::text[], %s::boolean[]) WITH ORDINALITY
    AS row (lane, kind, owner_id, payload, created_at, state, attempts, next_attempt_at, error,
        is_waiting, place)
ORDER BY place
"""
DELETE = "DELETE FROM changes_change WHERE id = ANY(%s::bigint[])"
OWNER = "owner_id"


def hand_over_changes(source: str, target: str, condition: str) -> int:
    """Moves the changes whose OWNER meets this SQL condition; returns how many.

    A drain on the source that has such rows in hand goes on, and files none of them. Safety: may
    run again. Cost: three statements.
    """
    rows = fetch_all(source, READ.format(condition=condition))
    if rows:
        ids, lanes, *others = (list(column) for column in zip(*rows, strict=True))
        execute(target, WRITE, (lanes, *others))
        execute(source, DELETE, (ids,))
        wake(target, *set(lanes))
    return len(rows)
