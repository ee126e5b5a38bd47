"""The header by which a caller says how long it waits for the answer.

A read that is late then begins no other wait for a database (infra/deadline.py). A request that is
late before it begins, because it waited for a thread, does nothing at all; so does a write.
"""

import time
from collections.abc import Mapping
from typing import Any

from infra.api.errors import InvalidRequest, TidelineError
from infra.api.parsing import read_count
from infra.deadline import ARRIVED

HEADER = "Tideline-Deadline-Ms"
VARIABLE = f"HTTP_{HEADER.upper().replace('-', '_')}"
LONGEST_MS = 600_000


class DeadlinePassed(TidelineError):
    """The caller no longer waits for this answer."""

    status = 504
    text = f"The time of {HEADER} is over"


def read_caller_deadline(environment: Mapping[str, Any]) -> float:
    """When the caller of a request with this header ends to wait, by the monotonic clock.

    Raises: InvalidRequest; DeadlinePassed if that was before now.
    """
    wait_ms = read_count({HEADER: environment[VARIABLE]}, HEADER, LONGEST_MS)
    if wait_ms == 0:
        raise InvalidRequest(f"{HEADER} must be a number from 1 to {LONGEST_MS}")
    now = time.monotonic()
    ends_at: float = environment.get(ARRIVED, now) + wait_ms / 1000
    if ends_at < now:
        raise DeadlinePassed
    return ends_at
