"""Parked changes: set aside because they failed too often, or by hand; tried again, or discarded.

For commands and admin pages. Nothing here is lost: what is discarded is kept with the reason.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import structlog

from infra.changes.errors import ChangeReasonMissing
from infra.changes.lanes import PAUSED_OFFSET
from infra.changes.models import ChangeState
from infra.changes.wake_up import wake
from infra.sharding.sql import execute, fetch_all

PAGE = 100
log = structlog.get_logger()

LIST = """
SELECT id, kind, owner_id, attempts, created_at, error FROM changes_change
WHERE state = %(state)s AND id > %(after)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND (%(owner_id)s::bigint IS NULL OR owner_id = %(owner_id)s)
    AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))
ORDER BY id LIMIT %(limit)s
"""
PARK = """
UPDATE changes_change SET state = 1, error = concat_ws(E'\\n', %s::text, nullif(error, ''))
WHERE id = ANY(%s::bigint[]) AND state = 0
"""
RETRY = f"""
UPDATE changes_change
SET state = 0, attempts = 0, next_attempt_at = clock_timestamp(), lane = lane %% {PAUSED_OFFSET}
WHERE id = ANY(%s::bigint[]) AND state = 1 RETURNING lane
"""  # noqa: S608 - of a constant
# One statement: the row is in one table or the other, wherever it breaks off.
DISCARD = """
WITH gone AS (DELETE FROM changes_change WHERE id = ANY(%s::bigint[]) AND state = 1 RETURNING *)
INSERT INTO changes_discardedchange (
    id, lane, kind, owner_id, payload, created_at, attempts, error, reason, discarded_by
)
SELECT id, lane, kind, owner_id, payload, created_at, attempts, error, %s, %s FROM gone
"""


class ChangeSelection(NamedTuple):
    """Which changes are meant: those that all of it holds for."""

    kind: str | None = None
    owner_id: int | None = None
    ids: Sequence[int] | None = None


ALL_CHANGES = ChangeSelection()


class UndeliveredChange(NamedTuple):
    """A change that was not delivered. `error`: the last one, or why it was parked by hand."""

    id: int
    kind: str
    owner_id: int
    attempts: int
    created_at: datetime
    error: str

    @property
    def first_line(self) -> str:
        """Of the error."""
        return self.error.partition("\n")[0]

    def __str__(self) -> str:
        tries = f", {self.attempts} attempts" if self.attempts else ""
        return f"#{self.id} {self.kind} of {self.owner_id}{tries}: {self.first_line}"


def list_parked(
    alias: str, after_id: int = 0, limit: int = PAGE, choice: ChangeSelection = ALL_CHANGES
) -> list[UndeliveredChange]:
    """A page of what is parked on one database, by id. One query, by its own index."""
    return list_changes(alias, ChangeState.PARKED, after_id, limit, choice)


def list_changes(
    alias: str, state: ChangeState, after_id: int, limit: int, choice: ChangeSelection
) -> list[UndeliveredChange]:
    """The same of what is parked or pending, rows of paused kinds with it."""
    ids = None if choice.ids is None else [*choice.ids]
    asked = {"state": int(state), "after": after_id, "limit": limit} | choice._asdict()
    return [UndeliveredChange(*row) for row in fetch_all(alias, LIST, asked | {"ids": ids})]


def park(alias: str, ids: Sequence[int], reason: str) -> int:
    """Sets pending changes aside; returns how many.

    One that a drain has in its hands may be delivered still, and is gone then.
    Raises: ReasonMissing. One statement.
    """
    text = f"ParkedByHand: {_required(reason)}"
    return execute(alias, PARK, (text, [*ids]))


def retry_parked(alias: str, ids: Sequence[int]) -> int:
    """Puts parked changes back into the queue, as if they had not been tried; returns how many.

    Others that are named are passed over. One statement, and a bell for each lane.
    """
    lanes = [lane for (lane,) in fetch_all(alias, RETRY, ([*ids],))]
    for lane in set(lanes):
        wake(alias, lane)
    return len(lanes)


def discard_parked(alias: str, ids: Sequence[int], reason: str, by: str) -> int:
    """Takes parked changes out of the queue for good; returns how many.

    They are kept with `reason` and `by` whom in changes_discardedchange. What they should have
    brought about stays undone until an audit mends it. Raises: ReasonMissing. One statement.
    """
    count = execute(alias, DISCARD, ([*ids], _required(reason), by))
    log.warning("changes.discarded", alias=alias, rows=count, reason=reason, by=by)
    return count


def _required(reason: str) -> str:
    if not reason.strip():
        raise ChangeReasonMissing
    return reason
