"""The pass of audit edges over accounts: are their counts the number of their rows?"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from counters.jobs.drifting_counts import repair
from counters.kinds import CounterKind
from counters.queries.counts import read_counts, read_postponed
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding
from infra.jobs.walk import Piece, Table
from infra.sharding.sql import fetch_all
from relations.counter_rows import BACKWARD_KINDS, FORWARD_KINDS, Kinds
from relations.jobs.edge_sightings import BACKWARD, FORWARD, snapshot
from relations.sql import KIND
from relations.types import Attribute

ROWS_A_PAGE = 10_000
SIDES: Sequence[tuple[Table, Kinds]] = ((FORWARD, FORWARD_KINDS), (BACKWARD, BACKWARD_KINDS))
KINDS = [*{kind for _, kinds in SIDES for of_one in kinds.values() for kind in of_one}]

# Page by page by key: counting all rows of one big account would take too long for one statement.
PAGE = f"""
SELECT owner, attribute, count(*), max(other) FROM (
    SELECT {{owner}} AS owner, {{other}} AS other, attribute FROM {{table}}
    WHERE ({{owner}}, kind, {{other}}) > (%s, {KIND}, %s) AND {{owner}} <= %s AND kind = {KIND}
    ORDER BY {{owner}}, kind, {{other}} LIMIT %s
) page GROUP BY owner, attribute
"""  # noqa: S608
Counted = Counter[tuple[int, CounterKind]]


class CountDifference(NamedTuple):
    """A count that is not the number of its rows."""

    kind: CounterKind
    counted: int
    rows: int


def judge_counts(piece: Piece, _: AuditRun) -> Iterator[AuditFinding]:
    """Accounts whose counts of relations are not the number of their rows.

    Counts and rows are written in one transaction, and read here in one snapshot. Cost: one query
    per side and ROWS_A_PAGE edges.
    """
    wrong = _find_in_snapshot(piece.alias, [row[0] for row in piece.rows])
    return (_finding(piece.alias, owner_id, each) for owner_id, each in wrong.items())


def _find_in_snapshot(alias: str, owner_ids: Sequence[int]) -> dict[int, list[CountDifference]]:
    with snapshot(alias):
        return _find_wrong(alias, owner_ids)


def _find_wrong(alias: str, owner_ids: Sequence[int]) -> dict[int, list[CountDifference]]:
    """The differences by owner, in order of id."""
    counts, postponed = read_counts(alias, owner_ids, KINDS), read_postponed(alias, owner_ids)
    rows = sum((_count(alias, *side, owner_ids) for side in SIDES), Counted())
    wrong: dict[int, list[CountDifference]] = {}
    for owner_id in sorted(owner_ids):
        for kind in sorted(KINDS):
            counted = counts[owner_id][kind].value + postponed.get((owner_id, kind), 0)
            there = rows[owner_id, kind]
            if counted != there:
                wrong.setdefault(owner_id, []).append(CountDifference(kind, counted, there))
    return wrong


def _count(alias: str, table: Table, kinds: Kinds, owner_ids: Sequence[int]) -> Counted:
    """Rows of these owners by kind of count. Rows of ids between theirs are counted and unused."""
    counted = Counted()
    sql = PAGE.format(table=table.name, owner=table.key[0], other=table.key[2])
    after, last = (min(owner_ids), -1), max(owner_ids)
    while True:
        page = fetch_all(alias, sql, (*after, last, ROWS_A_PAGE))
        for owner_id, attribute, count, _ in page:
            for kind in kinds[Attribute(attribute)]:
                counted[owner_id, kind] += count
        if sum(row[2] for row in page) < ROWS_A_PAGE:
            return counted
        after = max((row[0], row[3]) for row in page)


def _finding(alias: str, owner_id: int, wrong: Sequence[CountDifference]) -> AuditFinding:
    texts = [f"{w.kind.name.lower()} is {w.counted:,}, rows {w.rows:,}" for w in wrong]
    return AuditFinding(f"account {owner_id}: {', '.join(texts)}", partial(repair, alias, owner_id))
