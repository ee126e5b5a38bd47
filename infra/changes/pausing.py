"""Kinds that are held back by hand, each on one database: their rows wait and keep nobody waiting.

pause    a row in changes_pausedkind. The drain lays rows of the kind that it comes upon aside:
         into lane PAUSED_OFFSET + n, pending still, so that it does not come upon them again.
resume   the row says `is_ending`: nothing is laid aside any more. What was goes back to lane n,
         batch by batch; then the row goes. Killed in between, the compensator does the rest.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import structlog

from infra.changes.deliver import ChangeRow
from infra.changes.errors import ChangeReasonMissing
from infra.changes.failpoints import failpoint
from infra.changes.lanes import PAUSED_OFFSET
from infra.changes.wake_up import wake
from infra.sharding.sql import execute, fetch_all

BATCH_SIZE = 1_000
log = structlog.get_logger()

# The row lock: who ends the pause waits for this, and whoever comes after it finds it ending.
MOVE_TO_PAUSED_LANE = f"""
WITH paused AS MATERIALIZED (
    SELECT kind FROM changes_pausedkind WHERE kind = ANY(%s) AND NOT is_ending FOR SHARE
)
UPDATE changes_change SET lane = lane + {PAUSED_OFFSET}
WHERE id = ANY(%s::bigint[]) AND state = 0 AND lane < {PAUSED_OFFSET}
    AND kind IN (SELECT kind FROM paused)
"""  # noqa: S608 - of constants
PAUSE = """
INSERT INTO changes_pausedkind AS paused (kind, reason) VALUES (%s, %s)
ON CONFLICT (kind) DO UPDATE SET reason = excluded.reason, is_ending = false
WHERE paused.is_ending OR paused.reason <> excluded.reason
"""
END = "UPDATE changes_pausedkind SET is_ending = true WHERE kind = %s AND NOT is_ending"
LIST = "SELECT kind, reason, paused_at, is_ending FROM changes_pausedkind ORDER BY kind"
LIST_PAUSED_ROWS = f"""
SELECT lane, id FROM changes_change
WHERE state = 0 AND lane >= {PAUSED_OFFSET} AND (lane, id) > (%s, %s) AND kind = %s
ORDER BY lane, id LIMIT %s
"""  # noqa: S608
RESUME_ROWS = f"""
UPDATE changes_change SET lane = lane - {PAUSED_OFFSET}
WHERE id = ANY(%s::bigint[]) AND lane >= {PAUSED_OFFSET} AND state = 0
"""  # noqa: S608
DELETE_PAUSE = f"""
DELETE FROM changes_pausedkind AS paused WHERE kind = %s AND is_ending AND NOT EXISTS (
    SELECT FROM changes_change AS c
    WHERE c.state = 0 AND c.lane >= {PAUSED_OFFSET} AND c.kind = paused.kind
)
"""  # noqa: S608


class KindPause(NamedTuple):
    """A kind that is held back on a database, or was until now."""

    kind: str
    reason: str
    paused_at: datetime
    is_ending: bool

    def __str__(self) -> str:
        state = "resuming" if self.is_ending else "paused"
        return f"{self.kind} {state}, since {self.paused_at:%Y-%m-%d %H:%M:%S %Z}: {self.reason}"


class PausedRow(NamedTuple):
    """Where a row stands that is held back."""

    lane: int
    id: int


BEFORE_ALL = PausedRow(0, 0)


def move_to_paused_lane(alias: str, rows: Sequence[ChangeRow]) -> Sequence[ChangeRow]:
    """Lays rows of paused kinds aside; returns the others. One statement if there are any."""
    held = [row for row in rows if row.is_paused]
    if not held:
        return rows
    execute(alias, MOVE_TO_PAUSED_LANE, ([row.kind for row in held], [row.id for row in held]))
    log.info("drain.rows_paused", alias=alias, rows=len(held))
    return [row for row in rows if not row.is_paused]


def pause_kind(alias: str, kind: str, reason: str) -> bool:
    """Holds a kind back; whether that changed anything. Raises: ReasonMissing.

    What a drain has in its hands is delivered still. What runs at once in acting requests does.
    """
    if not reason.strip():
        raise ChangeReasonMissing
    return execute(alias, PAUSE, (kind, reason)) > 0


def end_pause(alias: str, kind: str) -> bool:
    """Has nothing laid aside any more; `let_go` does the rest. Whether that changed anything."""
    return execute(alias, END, (kind,)) > 0


def list_pauses(alias: str) -> list[KindPause]:
    """What is held back on this database, by kind. One query of a table that is nearly empty."""
    return [KindPause(*row) for row in fetch_all(alias, LIST)]


def list_ending_kinds(alias: str) -> list[str]:
    """Kinds whose pause has ended, and of which rows may be held still."""
    return [paused.kind for paused in list_pauses(alias) if paused.is_ending]


def list_paused_rows(alias: str, kind: str, after: PausedRow, limit: int) -> list[PausedRow]:
    """Rows of a kind that are held back, by lane and id."""
    return [PausedRow(*row) for row in fetch_all(alias, LIST_PAUSED_ROWS, (*after, kind, limit))]


def resume_rows(alias: str, rows: Sequence[PausedRow]) -> int:
    """Puts rows back into their lanes and rings for those; returns how many. One statement."""
    count = execute(alias, RESUME_ROWS, ([row.id for row in rows],))
    failpoint("pausing.rows_resumed")
    for lane in {row.lane - PAUSED_OFFSET for row in rows}:
        wake(alias, lane)
    return count


def finish_resuming(alias: str, kind: str) -> None:
    """Lets all go that is held of a kind whose pause has ended, and forgets the pause.

    Safety: any number may run at once, and be killed anywhere.
    """
    after = BEFORE_ALL
    while rows := list_paused_rows(alias, kind, after, BATCH_SIZE):
        resume_rows(alias, rows)
        after = rows[-1]
    delete_pause(alias, kind)


def delete_pause(alias: str, kind: str) -> bool:
    """Ends a pause for good, unless rows are held still or it was begun again."""
    return execute(alias, DELETE_PAUSE, (kind,)) > 0
