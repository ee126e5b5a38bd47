"""Kinds that are held back by hand, each on one database: their rows wait and keep nobody waiting.

pause    a row in changes_pausedkind. The drain lays rows of the kind that it comes upon aside:
         into lane HELD + n, pending still, so that it does not come upon them again.
resume   the row says `is_ending`: nothing is laid aside any more. What was goes back to lane n,
         batch by batch; then the row goes. Killed in between, the compensator does the rest.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import structlog

from infra.changes.deliver import Row
from infra.changes.errors import ReasonMissing
from infra.changes.failpoints import failpoint
from infra.changes.lanes import HELD
from infra.changes.wake_up import wake
from infra.sharding.sql import execute, fetch_all

BATCH_SIZE = 1_000
log = structlog.get_logger()

# The row lock: who ends the pause waits for this, and whoever comes after it finds it ending.
HOLD = f"""
WITH paused AS MATERIALIZED (
    SELECT kind FROM changes_pausedkind WHERE kind = ANY(%s) AND NOT is_ending FOR SHARE
)
UPDATE changes_change SET lane = lane + {HELD}
WHERE id = ANY(%s::bigint[]) AND state = 0 AND lane < {HELD} AND kind IN (SELECT kind FROM paused)
"""  # noqa: S608 - of constants
PAUSE = """
INSERT INTO changes_pausedkind AS paused (kind, reason) VALUES (%s, %s)
ON CONFLICT (kind) DO UPDATE SET reason = excluded.reason, is_ending = false
WHERE paused.is_ending OR paused.reason <> excluded.reason
"""
END = "UPDATE changes_pausedkind SET is_ending = true WHERE kind = %s AND NOT is_ending"
LIST = "SELECT kind, reason, paused_at, is_ending FROM changes_pausedkind ORDER BY kind"
HELD_ROWS = f"""
SELECT lane, id FROM changes_change
WHERE state = 0 AND lane >= {HELD} AND (lane, id) > (%s, %s) AND kind = %s
ORDER BY lane, id LIMIT %s
"""  # noqa: S608
LET_GO = f"""
UPDATE changes_change SET lane = lane - {HELD}
WHERE id = ANY(%s::bigint[]) AND lane >= {HELD} AND state = 0
"""  # noqa: S608
FORGET = f"""
DELETE FROM changes_pausedkind AS paused WHERE kind = %s AND is_ending AND NOT EXISTS (
    SELECT FROM changes_change AS c WHERE c.state = 0 AND c.lane >= {HELD} AND c.kind = paused.kind
)
"""  # noqa: S608


class Paused(NamedTuple):
    """A kind that is held back on a database, or was until now."""

    kind: str
    reason: str
    paused_at: datetime
    is_ending: bool

    def __str__(self) -> str:
        state = "resuming" if self.is_ending else "paused"
        return f"{self.kind} {state}, since {self.paused_at:%Y-%m-%d %H:%M:%S %Z}: {self.reason}"


class HeldRow(NamedTuple):
    """Where a row stands that is held back."""

    lane: int
    id: int


BEFORE_ALL = HeldRow(0, 0)


def hold_paused(alias: str, rows: Sequence[Row]) -> Sequence[Row]:
    """Lays rows of paused kinds aside; returns the others. One statement if there are any."""
    held = [row for row in rows if row.is_paused]
    if not held:
        return rows
    execute(alias, HOLD, ([row.kind for row in held], [row.id for row in held]))
    log.info("drain.rows_held", alias=alias, rows=len(held))
    return [row for row in rows if not row.is_paused]


def pause_kind(alias: str, kind: str, reason: str) -> bool:
    """Holds a kind back; whether that changed anything. Raises: ReasonMissing.

    What a drain has in its hands is delivered still. What runs at once in acting requests does.
    """
    if not reason.strip():
        raise ReasonMissing
    return execute(alias, PAUSE, (kind, reason)) > 0


def end_pause(alias: str, kind: str) -> bool:
    """Has nothing laid aside any more; `let_go` does the rest. Whether that changed anything."""
    return execute(alias, END, (kind,)) > 0


def list_paused(alias: str) -> list[Paused]:
    """What is held back on this database, by kind. One query of a table that is nearly empty."""
    return [Paused(*row) for row in fetch_all(alias, LIST)]


def ending_kinds(alias: str) -> list[str]:
    """Kinds whose pause has ended, and of which rows may be held still."""
    return [paused.kind for paused in list_paused(alias) if paused.is_ending]


def list_held(alias: str, kind: str, after: HeldRow, limit: int) -> list[HeldRow]:
    """Rows of a kind that are held back, by lane and id."""
    return [HeldRow(*row) for row in fetch_all(alias, HELD_ROWS, (*after, kind, limit))]


def let_go_rows(alias: str, rows: Sequence[HeldRow]) -> int:
    """Puts rows back into their lanes and rings for those; returns how many. One statement."""
    count = execute(alias, LET_GO, ([row.id for row in rows],))
    failpoint("pausing.rows_let_go")
    for lane in {row.lane - HELD for row in rows}:
        wake(alias, lane)
    return count


def let_go(alias: str, kind: str) -> None:
    """Lets all go that is held of a kind whose pause has ended, and forgets the pause.

    Safety: any number may run at once, and be killed anywhere.
    """
    after = BEFORE_ALL
    while rows := list_held(alias, kind, after, BATCH_SIZE):
        let_go_rows(alias, rows)
        after = rows[-1]
    forget_pause(alias, kind)


def forget_pause(alias: str, kind: str) -> bool:
    """Ends a pause for good, unless rows are held still or it was begun again."""
    return execute(alias, FORGET, (kind,)) > 0
