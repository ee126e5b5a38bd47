"""Moves counts, in the transaction of the rows they count."""

from collections.abc import Iterable

from django.db import connections

from counters.types import Count, Move
from infra.sharding.sql import fetch_all

MoveKey = tuple[int, int, int]

# Sorted by key: two transactions that move the same counts lock them in the same order.
MOVE = """
INSERT INTO counters_counter AS c (owner_id, subject, kind, value, version)
SELECT owner_id, subject, kind, delta, 1
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[])
    AS moved (owner_id, subject, kind, delta)
ORDER BY owner_id, subject, kind
ON CONFLICT (owner_id, subject, kind) DO UPDATE
SET value = c.value + excluded.value, version = c.version + 1
RETURNING owner_id, subject, kind, value, version
"""


def move(alias: str, moves: Iterable[Move]) -> dict[MoveKey, Count]:
    """Applies moves, folded per count, and returns the counts after by (owner, subject, kind).

    Raises: RuntimeError outside a transaction on `alias`, which the counted rows must share.
    Cost: one statement for any number of moves; row locks until the commit.
    """
    if not connections[alias].in_atomic_block:
        raise RuntimeError("counts move in the transaction of the rows they count")
    folded: dict[MoveKey, int] = {}
    for owner_id, kind, delta, subject in moves:
        where = (owner_id, subject, int(kind))
        folded[where] = folded.get(where, 0) + delta
    if not folded:
        return {}
    columns = [list(column) for column in zip(*folded, strict=True)]
    rows = fetch_all(alias, MOVE, [*columns, list(folded.values())])
    return {(row[0], row[1], row[2]): Count(row[3], row[4]) for row in rows}
