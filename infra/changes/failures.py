"""What becomes of a row that could not be delivered: it waits, backs off, or is parked."""

from collections.abc import Sequence
from typing import NamedTuple

import structlog
from django.conf import settings

from infra.changes.deliver import Failure
from infra.changes.errors import UNREACHABLE
from infra.changes.models import ChangeState
from infra.sharding.sql import execute

MAX_BACKOFF_S = 300
MAX_ERROR_CHARACTERS = 2_000
log = structlog.get_logger()

# A row that waits for a store is asked again after a quarter of its age: at first at once, in a
# long outage seldom enough that the rows behind it get their turn. A row that somebody parked by
# hand while a drain had it in hand stays parked.
RECORD = """
UPDATE changes_change AS c SET error = f.error, state = f.state,
    attempts = c.attempts + CASE WHEN f.is_waiting THEN 0 ELSE 1 END,
    next_attempt_at = clock_timestamp() + CASE WHEN f.is_waiting
        THEN greatest('1 s', least('30 s', (clock_timestamp() - c.created_at) / 4))
        ELSE f.backoff_s * interval '1 s' END
FROM unnest(%s::bigint[], %s::text[], %s::smallint[], %s::boolean[], %s::int[])
    AS f (id, error, state, is_waiting, backoff_s)
WHERE c.id = f.id AND c.state = 0
"""


class FailureRecord(NamedTuple):
    """A row of RECORD's arrays."""

    id: int
    error: str
    state: int
    is_waiting: bool
    backoff_s: int


def record_failures(alias: str, failures: Sequence[Failure]) -> int:
    """Writes the errors to their rows; returns how many were parked. One statement."""
    if not failures:
        return 0
    verdicts = [classify(failure) for failure in failures]
    execute(alias, RECORD, [list(column) for column in zip(*verdicts, strict=True)])
    parked = sum(verdict.state == ChangeState.PARKED for verdict in verdicts)
    log.warning(
        "drain.rows_failed",
        alias=alias,
        rows=len(verdicts),
        parked=parked,
        first=verdicts[0]._asdict(),
    )
    return parked


def classify(failure: Failure) -> FailureRecord:
    """Parks a row whose attempts are used up.

    A store out of reach is nobody's fault: it uses up no attempt, however long it is away.
    """
    row, error = failure.row, failure.error
    is_waiting = isinstance(error, UNREACHABLE)
    is_parked = not is_waiting and row.attempts + 1 >= settings.CHANGE_MAX_ATTEMPTS
    return FailureRecord(
        row.id,
        _text_of(error),
        int(ChangeState.PARKED if is_parked else ChangeState.PENDING),
        is_waiting,
        min(2 ** min(row.attempts, 30), MAX_BACKOFF_S),
    )


def _text_of(error: Exception) -> str:
    """As PostgreSQL can hold it: an error that cannot be written down would block its lane."""
    text = f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS].replace("\x00", "")
    return text.encode(errors="replace").decode()
