"""Postponed moves: for counts that are written so often that their writers would wait in line.

A postponed move is a row of its own, so writers of one count do not wait for each other. A change
in a folded lane adds the moves up later, and writes the count once.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.types import CountMove
from infra.sharding.sql import Statement, fetch_all

# The subjects among these that have postponed moves: their next moves are postponed too, so that no
# count loses what it did not get yet.
FIND = """
SELECT DISTINCT p.owner_id, p.subject FROM counters_postponedmove AS p
JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, subject) USING (owner_id, subject)
"""
POSTPONE = """
INSERT INTO counters_postponedmove AS p (owner_id, subject, kind, about, delta)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS m (owner_id, subject, kind, about, delta)
ORDER BY owner_id, subject, kind, about
ON CONFLICT (owner_id, subject, kind, about) DO UPDATE SET delta = p.delta + excluded.delta
"""
TAKE = """
DELETE FROM counters_postponedmove AS p
USING unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, subject)
WHERE p.owner_id = wanted.owner_id AND p.subject = wanted.subject
RETURNING p.owner_id, p.subject, p.kind, p.about, p.delta
"""


class CausedMove(NamedTuple):
    """A move, and the account whose row moved the count."""

    move: CountMove
    about: int


def postpone(moves: Iterable[CausedMove]) -> Statement:
    """The statement that writes these moves as rows. The caller's transaction moves the rows."""
    deltas: dict[tuple[int, int, int, int], int] = {}
    for (owner_id, kind, delta, subject), about in moves:
        key = (owner_id, subject, int(kind), about)
        deltas[key] = deltas.get(key, 0) + delta
    columns = [list(column) for column in zip(*deltas, strict=True)] or [[], [], [], []]
    return Statement(POSTPONE, [*columns, list(deltas.values())])


def find_postponed(subjects: Collection[Subject]) -> Statement:
    """The statement that returns those of the subjects that have postponed moves."""
    return Statement(FIND, _columns(subjects))


def take_postponed(alias: str, subjects: Collection[Subject]) -> list[CausedMove]:
    """Removes the postponed moves of these subjects and returns them.

    The caller moves the counts in the same transaction. One statement.
    """
    return [
        CausedMove(CountMove(owner_id, CounterKind(kind), delta, subject), about)
        for owner_id, subject, kind, about, delta in fetch_all(alias, TAKE, _columns(subjects))
    ]


def _columns(subjects: Collection[Subject]) -> list[list[int]]:
    return [[owner for owner, _ in subjects], [subject for _, subject in subjects]]
