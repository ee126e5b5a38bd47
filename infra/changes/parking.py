"""Parked changes: rows that failed too often or that an operator parked. Retry or discard them.

For commands and operators' pages. Discarded changes are kept, with the reason.
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
# One statement, so that a row is always in one of the two tables.
DISCARD = """
WITH removed AS (DELETE FROM changes_change WHERE id = ANY(%s::bigint[]) AND state = 1 RETURNING *)
INSERT INTO changes_discardedchange (
    id, lane, kind, owner_id, payload, created_at, attempts, error, reason, discarded_by
)
SELECT id, lane, kind, owner_id, payload, created_at, attempts, error, %s, %s FROM removed
"""


class ChangeSelection(NamedTuple):
    """Selects changes by all conditions that are not None."""

    kind: str | None = None
    owner_id: int | None = None
    ids: Sequence[int] | None = None


ALL_CHANGES = ChangeSelection()


class UndeliveredChange(NamedTuple):
    """An undelivered change. `error`: the last error, or why an operator parked it."""

    id: int
    kind: str
    owner_id: int
    attempts: int
    created_at: datetime
    error: str

    @property
    def first_line(self) -> str:
        """The first line of the error."""
        return self.error.partition("\n")[0]

    def __str__(self) -> str:
        tries = f", {self.attempts} attempts" if self.attempts else ""
        return f"#{self.id} {self.kind} of {self.owner_id}{tries}: {self.first_line}"


def list_parked(
    alias: str, after_id: int = 0, limit: int = PAGE, selection: ChangeSelection = ALL_CHANGES
) -> list[UndeliveredChange]:
    """A page of the parked changes of one database, by id. One query, by index."""
    return list_undelivered_changes(alias, ChangeState.PARKED, after_id, limit, selection)


def list_undelivered_changes(
    alias: str, state: ChangeState, after_id: int, limit: int, selection: ChangeSelection
) -> list[UndeliveredChange]:
    """A page of parked or of pending changes, with those of paused kinds. One query."""
    ids = None if selection.ids is None else [*selection.ids]
    parameters = {"state": int(state), "after": after_id, "limit": limit} | selection._asdict()
    return [UndeliveredChange(*row) for row in fetch_all(alias, LIST, parameters | {"ids": ids})]


def park(alias: str, ids: Sequence[int], reason: str) -> int:
    """Parks pending changes; returns how many.

    A drain may still deliver a change that it has already taken.
    Raises: ChangeReasonMissing. One statement.
    """
    text = f"ParkedByHand: {_required(reason)}"
    return execute(alias, PARK, (text, [*ids]))


def retry_parked(alias: str, ids: Sequence[int]) -> int:
    """Makes parked changes pending again, with no attempts used; returns how many.

    Ignores ids that are not parked. One statement, and a wake-up for each lane.
    """
    lanes = [lane for (lane,) in fetch_all(alias, RETRY, ([*ids],))]
    wake(alias, *set(lanes))
    return len(lanes)


def discard_parked(alias: str, ids: Sequence[int], reason: str, by: str) -> int:
    """Removes parked changes from the change table; returns how many.

    changes_discardedchange keeps them with `reason` and the person (`by`). Their effects stay
    missing until an audit repairs them. Raises: ChangeReasonMissing. One statement.
    """
    count = execute(alias, DISCARD, ([*ids], _required(reason), by))
    log.warning("changes.discarded", alias=alias, rows=count, reason=reason, by=by)
    return count


def _required(reason: str) -> str:
    if not reason.strip():
        raise ChangeReasonMissing
    return reason
