"""What a drain would find in a database, said without taking a lease or writing anything."""

from typing import NamedTuple

from infra.changes.lanes import PAUSED_OFFSET
from infra.jobs.types import Batch
from infra.sharding.sql import fetch_all

# As the drain takes rows, and as the compensator lets go what a pause that has ended left aside.
FIND = f"""
SELECT c.lane %% {PAUSED_OFFSET}, c.kind, count(*),
    greatest(extract(epoch FROM clock_timestamp() - min(c.created_at)), 0),
    CASE WHEN c.lane >= {PAUSED_OFFSET} THEN 'resume'
        WHEN p.kind IS NULL OR p.is_ending THEN 'deliver'
        ELSE 'pause' END AS fate
FROM changes_change c LEFT JOIN changes_pausedkind p ON p.kind = c.kind
WHERE c.state = 0 AND (%(lane)s::int IS NULL OR c.lane = %(lane)s OR c.lane >= {PAUSED_OFFSET})
    AND (c.lane >= {PAUSED_OFFSET} AND coalesce(p.is_ending, false)
        OR c.lane < {PAUSED_OFFSET} AND c.next_attempt_at <= clock_timestamp())
GROUP BY 1, 2, 5 ORDER BY 1, 2, 5
"""  # noqa: S608 - of constants
SAID = {
    "deliver": "would be delivered",
    "pause": "would be laid aside: the kind is paused",
    "resume": "would be let go: the pause has ended",
}


class DueChanges(NamedTuple):
    """Changes of one kind in one lane whose turn has come, and what becomes of them."""

    lane: int
    kind: str
    rows: int
    oldest_s: float
    fate: str

    def __str__(self) -> str:
        waited = f"the oldest for {self.oldest_s:,.1f} s"
        return f"lane {self.lane}: {self.rows:,} {self.kind} {SAID[self.fate]}, {waited}"


def list_due_changes(alias: str, lane: int | None = None) -> list[DueChanges]:
    """What `compensate(alias, lane)` would do now, by lane and kind.

    Rows that back off after a failure are not among it, nor what deliveries would bring about.
    Raises: what UNREACHABLE lists. Cost: one query over undelivered rows only.
    """
    rows = fetch_all(alias, FIND, {"lane": lane})
    return [DueChanges(row[0], row[1], row[2], float(row[3]), row[4]) for row in rows]


def dry_run_batch(alias: str, lane: int | None = None) -> Batch:
    """The same as a batch of a dry run: a line for each lane and kind."""
    found = list_due_changes(alias, lane)
    rows = sum(one.rows for one in found)
    return Batch(rows, 0, alias, changed=rows, details=[f"{alias} {one}" for one in found])
