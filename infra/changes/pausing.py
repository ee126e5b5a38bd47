"""Pauses kinds of changes on one database. Their rows wait, and no other row waits for them.

pause    writes a row to changes_pausedkind. When the drain takes rows of the kind, it moves them
         from lane n to lane PAUSED_OFFSET + n, still pending, so it never reads them again.
resume   sets `is_ending` on the row: the drain moves no more rows. Moved rows return to lane n,
         batch by batch, and then the row is deleted. If that is killed, the compensator does it.
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

# FOR SHARE: the end of the pause waits for this statement. A later drain sees that it is ending.
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
    """A kind that is paused on a database, or whose pause is ending."""

    kind: str
    reason: str
    paused_at: datetime
    is_ending: bool

    def __str__(self) -> str:
        state = "resuming" if self.is_ending else "paused"
        return f"{self.kind} {state}, since {self.paused_at:%Y-%m-%d %H:%M:%S %Z}: {self.reason}"


class PausedRow(NamedTuple):
    """The key of a row in a paused lane."""

    lane: int
    id: int


BEFORE_ALL = PausedRow(0, 0)


def move_to_paused_lane(alias: str, rows: Sequence[ChangeRow]) -> Sequence[ChangeRow]:
    """Moves rows of paused kinds to their paused lane, returns the others. At most one query."""
    paused = [row for row in rows if row.is_paused]
    if not paused:
        return rows
    execute(alias, MOVE_TO_PAUSED_LANE, ([row.kind for row in paused], [row.id for row in paused]))
    log.info("drain.rows_paused", alias=alias, rows=len(paused))
    return [row for row in rows if not row.is_paused]


def pause_kind(alias: str, kind: str, reason: str) -> bool:
    """Pauses a kind; returns whether that changed anything. Raises: ChangeReasonMissing.

    Pausing a kind does not stop a batch that a drain has already taken, nor inline consumers.
    """
    if not reason.strip():
        raise ChangeReasonMissing
    return execute(alias, PAUSE, (kind, reason)) > 0


def end_pause(alias: str, kind: str) -> bool:
    """Starts to end a pause; `finish_resuming` completes it. Returns whether it was paused."""
    return execute(alias, END, (kind,)) > 0


def list_pauses(alias: str) -> list[KindPause]:
    """The pauses of this database, by kind. One query of a table that is nearly empty."""
    return [KindPause(*row) for row in fetch_all(alias, LIST)]


def list_ending_kinds(alias: str) -> list[str]:
    """Kinds whose pause is ending. Some of their rows may still be in paused lanes."""
    return [paused.kind for paused in list_pauses(alias) if paused.is_ending]


def list_paused_rows(alias: str, kind: str, after: PausedRow, limit: int) -> list[PausedRow]:
    """A page of the rows of a kind in paused lanes, by lane and id. One query."""
    return [PausedRow(*row) for row in fetch_all(alias, LIST_PAUSED_ROWS, (*after, kind, limit))]


def resume_rows(alias: str, rows: Sequence[PausedRow]) -> int:
    """Returns rows to their lanes and wakes drainers; the number of rows. One statement."""
    count = execute(alias, RESUME_ROWS, ([row.id for row in rows],))
    failpoint("pausing.rows_resumed")
    wake(alias, *{row.lane - PAUSED_OFFSET for row in rows})
    return count


def finish_resuming(alias: str, kind: str) -> None:
    """Returns all rows of a kind to their lanes and deletes the pause.

    Safety: any number may run at once, and be killed anywhere.
    """
    after = BEFORE_ALL
    while rows := list_paused_rows(alias, kind, after, BATCH_SIZE):
        resume_rows(alias, rows)
        after = rows[-1]
    delete_pause(alias, kind)


def delete_pause(alias: str, kind: str) -> bool:
    """Deletes a pause that is ending, unless rows are still in paused lanes or it began again."""
    return execute(alias, DELETE_PAUSE, (kind,)) > 0
