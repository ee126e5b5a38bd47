"""Records why a row could not be delivered, and when it is tried again or that it is parked."""

from collections.abc import Sequence
from typing import NamedTuple

import structlog
from django.conf import settings

from infra.changes.deliver import Failure
from infra.changes.errors import UNREACHABLE
from infra.changes.models import ChangeState
from infra.sharding.sql import execute, fetch_one
from infra.telemetry.reached_branches import reached

MAX_BACKOFF_S = 300
MAX_ERROR_CHARACTERS = 2_000
log = structlog.get_logger()

# A row that waits for a store is tried again after a quarter of its age: soon at first, and rarely
# in a long outage, so that the rows after it are tried too. When the store is back, RETRY_WAITING
# makes the row due. `state = 0`: a row that an operator
# parked during the delivery stays parked.
RECORD = """
UPDATE changes_change AS c SET error = f.error, state = f.state, is_waiting = f.is_waiting,
    attempts = c.attempts + CASE WHEN f.is_waiting THEN 0 ELSE 1 END,
    next_attempt_at = clock_timestamp() + CASE WHEN f.is_waiting
        THEN greatest('250 ms', least('30 s', (clock_timestamp() - c.created_at) / 4))
        ELSE f.backoff_s * interval '1 s' END
FROM unnest(%s::bigint[], %s::text[], %s::smallint[], %s::boolean[], %s::int[])
    AS f (id, error, state, is_waiting, backoff_s)
WHERE c.id = f.id AND c.state = 0
"""
RETRY_WAITING = """
UPDATE changes_change SET next_attempt_at = clock_timestamp()
WHERE lane = ANY(%s) AND state = 0 AND is_waiting AND next_attempt_at > clock_timestamp()
"""
# Longer than the longest pause: such a row is of a clock that went back since.
RETRY_FUTURE = f"""
UPDATE changes_change SET next_attempt_at = clock_timestamp()
WHERE state = 0 AND next_attempt_at > clock_timestamp() + {2 * MAX_BACKOFF_S} * interval '1 s'
"""  # noqa: S608 - of constants
BACKS_OFF = """
SELECT 1 FROM changes_change
WHERE lane = ANY(%s) AND state = 0 AND next_attempt_at > clock_timestamp() LIMIT 1
"""


class FailureRecord(NamedTuple):
    """One element of each array of RECORD. `is_waiting`: for a store that is out of reach."""

    id: int
    error: str
    state: int
    is_waiting: bool
    backoff_s: int


def record_failures(alias: str, failures: Sequence[Failure]) -> int:
    """Writes the errors to their rows; returns how many were parked. One statement."""
    if not failures:
        return 0
    records = [classify(failure) for failure in failures]
    execute(alias, RECORD, [list(column) for column in zip(*records, strict=True)])
    parked = sum(record.state == ChangeState.PARKED for record in records)
    log.warning(
        "drain.rows_failed",
        alias=alias,
        rows=len(records),
        parked=parked,
        first=records[0]._asdict(),
    )
    return parked


def retry_waiting(alias: str, lanes: Sequence[int]) -> int:
    """Makes the rows that wait for a store due now, because a store is back. One statement."""
    return execute(alias, RETRY_WAITING, ([*lanes],))


def retry_future(alias: str) -> int:
    """Makes rows due that no pause can have put so far into the future; returns how many.

    When the clock of the database goes back, changes would wait until it is there again. Safety:
    idempotent. One statement, which reads the undelivered rows.
    """
    retried = execute(alias, RETRY_FUTURE)
    if retried:
        log.warning("changes.clock_went_back", alias=alias, rows=retried)
    return retried


def has_rows_that_back_off(alias: str, lanes: Sequence[int]) -> bool:
    """Whether a row of these lanes is tried again later. One query."""
    return fetch_one(alias, BACKS_OFF, ([*lanes],)) is not None


def classify(failure: Failure) -> FailureRecord:
    """Whether the row is parked, and how long it backs off.

    A store out of reach uses up no attempt, however long it is away.
    """
    row, error = failure.row, failure.error
    is_waiting = isinstance(error, UNREACHABLE)
    is_parked = not is_waiting and row.attempts + 1 >= settings.CHANGE_MAX_ATTEMPTS
    if is_waiting:
        reached("drain.row_waits_for_store")
    elif is_parked:
        reached("drain.row_parked")
    return FailureRecord(
        row.id,
        _text_of(error),
        int(ChangeState.PARKED if is_parked else ChangeState.PENDING),
        is_waiting,
        min(2 ** min(row.attempts, 30), MAX_BACKOFF_S),
    )


def _text_of(error: Exception) -> str:
    """The error as text that PostgreSQL can store. A text that it refused would block the lane."""
    text = f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS].replace("\x00", "")
    return text.encode(errors="replace").decode()
