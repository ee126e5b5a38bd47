"""Moves counts in the transaction of the rows that they count."""

from collections.abc import Iterable

from django.db import connections

from counters.types import Count, CountMove
from infra.changes.errors import NotInTransaction
from infra.sharding.sql import fetch_all

CountKey = tuple[int, int, int]

# Sorted by key, so that two transactions lock the same counts in the same order.
# PostgreSQL checks the constraints of the new row before it finds the conflict. So an inserted
# value must not be negative, even if it becomes an update: the version carries a loss, as 1 + loss.
MOVE = """
INSERT INTO counters_counter AS c (owner_id, subject, kind, value, version)
SELECT owner_id, subject, kind, greatest(delta, 0), 1 - least(delta, 0)
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[])
    AS m (owner_id, subject, kind, delta)
ORDER BY owner_id, subject, kind
ON CONFLICT (owner_id, subject, kind) DO UPDATE SET
    version = c.version + 1, value = c.value + excluded.value - (excluded.version - 1)
RETURNING owner_id, subject, kind, value, version, xmax = 0 AS is_new
"""


class CountBelowZero(RuntimeError):
    """A count without a row cannot be lowered. Counts and rows differ: run recount_counters."""


def move(alias: str, moves: Iterable[CountMove]) -> dict[CountKey, Count]:
    """Adds the moves to their counts; returns the new counts by (owner, subject, kind).

    Raises: NotInTransaction; CountBelowZero or IntegrityError when a count would become negative.
    Cost: one statement for any number of moves, and row locks until the commit.
    """
    if not connections[alias].in_atomic_block:
        raise NotInTransaction("counts move in the transaction of the rows they count")
    folded = _fold(moves)
    if not folded:
        return {}
    columns = [list(column) for column in zip(*folded, strict=True)]
    counts = {}
    for row in fetch_all(alias, MOVE, [*columns, list(folded.values())]):
        where, is_new = (row[0], row[1], row[2]), row[5]
        if is_new and folded[where] < 0:
            raise CountBelowZero(where)
        counts[where] = Count(row[3], row[4])
    return counts


def _fold(moves: Iterable[CountMove]) -> dict[CountKey, int]:
    folded: dict[CountKey, int] = {}
    for owner_id, kind, delta, subject in moves:
        where = (owner_id, subject, int(kind))
        folded[where] = folded.get(where, 0) + delta
    return folded
