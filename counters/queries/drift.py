"""Finds drift: counts that differ from the rows that they count.

A row and its count change in one transaction, so every snapshot has both or neither. A difference
that one statement sees is therefore drift, never a write in progress. Finding it needs no lock, and
later writes do not change the difference. Postponed moves are part of the count.
"""

from collections.abc import Sequence
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.registry import CountedRows, counted_rows_by_kind, list_counted_tables
from infra.sharding.sql import fetch_all

COUNT = """
SELECT {rows.owner}::bigint, {rows.subject}::bigint, ({kind})::smallint, {rows.value}
FROM {rows.table}
WHERE {rows.owner} = ANY(%(owners)s::bigint[]) AND {rows.where} GROUP BY 1, 2, 3
"""
DRIFT = """
WITH counted (owner_id, subject, kind, counted) AS ({counts}),
current AS (
    SELECT owner_id, subject, kind, sum(value)::bigint AS value FROM (
        SELECT owner_id, subject, kind, value FROM counters_counter
        UNION ALL
        SELECT owner_id, subject, kind, delta FROM counters_postponedmove
    ) AS part
    WHERE owner_id = ANY(%(owners)s::bigint[]) AND kind = ANY(%(kinds)s::smallint[])
    GROUP BY owner_id, subject, kind
)
SELECT owner_id, subject, kind, coalesce(value, 0), coalesce(counted, 0)
FROM current FULL JOIN counted USING (owner_id, subject, kind)
WHERE coalesce(value, 0) <> coalesce(counted, 0) ORDER BY 1, 2, 3
"""
# Jumps by index from one owner to the next: an owner with a million rows costs one look-up.
OWNERS = """
(WITH RECURSIVE next AS (
    (SELECT {owner} AS id FROM {table} WHERE {owner} > %(after)s ORDER BY 1 LIMIT 1)
    UNION ALL
    SELECT (SELECT {owner} FROM {table} WHERE {owner} > next.id ORDER BY 1 LIMIT 1)
    FROM next WHERE next.id IS NOT NULL
) SELECT id FROM next WHERE id IS NOT NULL LIMIT %(count)s)
"""


class Drift(NamedTuple):
    """A count that differs from the number of its rows."""

    owner_id: int
    subject: int
    kind: CounterKind
    value: int
    rows: int

    @property
    def lacking(self) -> int:
        """The number to add to the count."""
        return self.rows - self.value

    def __str__(self) -> str:
        of = f"/{self.subject}" if self.subject else ""
        return f"account {self.owner_id}{of} {self.kind.name}: {self.value} -> {self.rows}"


def find_drift(alias: str, owner_ids: Sequence[int]) -> list[Drift]:
    """The counts of these owners that differ from their rows, by owner, subject and kind.

    Exact while others write. Cost: one statement that reads an index entry for each counted row.
    """
    sources = counted_rows_by_kind()
    params = {"owners": list(owner_ids), "kinds": [int(kind) for kind in sources]}
    parts = dict.fromkeys(_count(*source) for source in sources.items())
    sql = DRIFT.format(counts=" UNION ALL ".join(parts))
    return [
        Drift(owner_id, subject, CounterKind(kind), value, counted)
        for owner_id, subject, kind, value, counted in fetch_all(alias, sql, params)
    ]


def list_owners(alias: str, after: int, count: int) -> list[tuple[int]]:
    """The next owners after `after` that have a count or a counted row, in order.

    Cost: one statement with an index look-up for each owner and table.
    """
    tables = [("counters_counter", "owner_id"), *list_counted_tables()]
    parts = (OWNERS.format(table=table, owner=owner) for table, owner in tables)
    sql = f"{' UNION '.join(parts)} ORDER BY 1 LIMIT %(count)s"
    return fetch_all(alias, sql, {"after": after, "count": count})


def _count(kind: CounterKind, rows: CountedRows) -> str:
    return COUNT.format(rows=rows, kind=rows.kind or int(kind))
