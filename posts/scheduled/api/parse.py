"""Parses requests about scheduled posts."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from infra.api.parsing import read_text
from posts.scheduled.errors import NoTime, ScheduledPostNotFound

LONGEST_ID = 18  # digits that fit the column
LONGEST_TIME = 40
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def find_due(data: Mapping[str, Any]) -> int | None:
    """When to publish, in Unix milliseconds; None: now. A time without a zone is of UTC.

    Raises: NoTime, InvalidRequest (both 422).
    """
    text = read_text(data, "scheduled_at").strip() if data.get("scheduled_at") is not None else ""
    if not text:
        return None
    if len(text) > LONGEST_TIME:
        raise NoTime
    try:
        return _milliseconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise NoTime from None


def read_due(data: Mapping[str, Any]) -> int:
    """As `find_due`, but there must be one."""
    due_ms = find_due(data)
    if due_ms is None:
        raise NoTime
    return due_ms


def read_scheduled_id(text: str) -> int:
    """Raises: ScheduledPostNotFound for a text that cannot be an id."""
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_ID):
        raise ScheduledPostNotFound
    return int(text)


def _milliseconds(at: datetime) -> int:
    """Raises: OverflowError for what is no date of UTC, such as the last hour of 9999 in New York:
    no answer could show it."""
    in_utc = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return (in_utc - EPOCH) // timedelta(milliseconds=1)
