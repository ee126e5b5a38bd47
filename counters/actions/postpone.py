"""Postponed moves: for counts that are written so often that their writers would wait in line.

A postponed move is a row of its own, so writers of one count do not wait for each other. A change
in a folded lane adds the moves up later, and writes the count once.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.types import CountMove
from infra.sharding.sql import Statement

# The subjects among these that have postponed moves: their next moves are postponed too, so that no
# count loses what it did not get yet.
POSTPONE = """
INSERT INTO counters_postponedmove AS p (owner_id, subject, kind, about, delta)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS m (owner_id, subject, kind, about, delta)
ORDER BY owner_id, subject, kind, about
ON CONFLICT (owner_id, subject, kind, about) DO UPDATE SET delta = p.delta + excluded.delta
"""
LIST = """
SELECT DISTINCT p.owner_id, p.subject, p.about FROM counters_postponedmove AS p
JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, subject) USING (owner_id, subject)
"""
# In key order, as POSTPONE writes them, so that the two cannot deadlock.
TAKE = """
WITH locked AS (
    SELECT p.owner_id, p.subject, p.kind, p.about FROM counters_postponedmove AS p
    JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS wanted (owner_id, subject, about)
        ON p.owner_id = wanted.owner_id AND p.subject = wanted.subject
        AND p.about = coalesce(wanted.about, p.about)
    ORDER BY p.owner_id, p.subject, p.kind, p.about FOR UPDATE OF p
)
DELETE FROM counters_postponedmove AS p USING locked
WHERE p.owner_id = locked.owner_id AND p.subject = locked.subject
    AND p.kind = locked.kind AND p.about = locked.about
RETURNING p.owner_id, p.subject, p.kind, p.about, p.delta
"""


class CausedMove(NamedTuple):
    """A move, and the account whose row moved the count."""

    move: CountMove
    about: int


class PostponedMoves(NamedTuple):
    """The postponed moves of a subject: those that one account caused, or all with None."""

    owner_id: int
    subject: int
    about: int | None = None


def postpone(moves: Iterable[CausedMove]) -> Statement:
    """The statement that writes these moves as rows. The caller's transaction moves the rows."""
    deltas: dict[tuple[int, int, int, int], int] = {}
    for (owner_id, kind, delta, subject), about in moves:
        key = (owner_id, subject, int(kind), about)
        deltas[key] = deltas.get(key, 0) + delta
    columns = [list(column) for column in zip(*deltas, strict=True)] or [[], [], [], []]
    return Statement(POSTPONE, [*columns, list(deltas.values())])


def list_postponed(subjects: Collection[Subject]) -> Statement:
    """The statement whose rows are the PostponedMoves of these subjects, each with an account."""
    return Statement(LIST, _columns(subjects))


def take_postponed(moves: Collection[PostponedMoves]) -> Statement:
    """The statement that removes these moves. `caused_moves` reads its rows.

    The caller moves the counts in the same transaction, and after this statement.
    """
    return Statement(TAKE, [list(column) for column in zip(*moves, strict=True)] or [[], [], []])


def caused_moves(rows: Iterable[Sequence[int]]) -> list[CausedMove]:
    """The moves that were taken."""
    return [
        CausedMove(CountMove(owner_id, CounterKind(kind), delta, subject), about)
        for owner_id, subject, kind, about, delta in rows
    ]


def _columns(subjects: Collection[Subject]) -> list[list[int]]:
    return [[owner for owner, _ in subjects], [subject for _, subject in subjects]]
