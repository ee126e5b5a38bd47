"""Moves counts in the transaction of the rows that they count."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connections

from counters.types import Count, CountMove
from infra.changes.errors import NotInTransaction
from infra.sharding.sql import Statement, fetch_all

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
    """A count without a row cannot be lowered. Counts and rows differ: run rebuild counters."""


class MovePlan(NamedTuple):
    """Moves that were added up by count, for a caller that sends several statements at once."""

    folded: dict[CountKey, int]

    @property
    def statement(self) -> Statement:
        columns = [list(column) for column in zip(*self.folded, strict=True)]
        return Statement(MOVE, [*(columns or [[], [], []]), list(self.folded.values())])

    def complete(self, rows: Iterable[Sequence[Any]]) -> dict[CountKey, Count]:
        """The new counts, from the rows of the statement. Raises: CountBelowZero."""
        counts = {}
        for owner_id, subject, kind, value, version, is_new in rows:
            where = (owner_id, subject, kind)
            if is_new and self.folded[where] < 0:
                raise CountBelowZero(where)
            counts[where] = Count(value, version)
        return counts


def move_counts(alias: str, moves: Iterable[CountMove]) -> dict[CountKey, Count]:
    """Adds the moves to their counts; returns the new counts by (owner, subject, kind).

    Raises: NotInTransaction; CountBelowZero or IntegrityError when a count would become negative.
    Cost: one statement for any number of moves, and row locks until the commit.
    """
    plan = plan_count_moves(alias, moves)
    return plan.complete(fetch_all(alias, *plan.statement)) if plan.folded else {}


def plan_count_moves(alias: str, moves: Iterable[CountMove]) -> MovePlan:
    """The moves as one statement. Raises: NotInTransaction."""
    if not connections[alias].in_atomic_block:
        raise NotInTransaction("counts move in the transaction of the rows they count")
    folded: dict[CountKey, int] = {}
    for owner_id, kind, delta, subject in moves:
        where = (owner_id, subject, int(kind))
        folded[where] = folded.get(where, 0) + delta
    return MovePlan(folded)
