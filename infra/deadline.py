"""The deadline of a read. After it a request begins no other wait for a database, and the
statement that runs is broken off (infra/sharding/bounded/limits.py).

Each wait has a limit of its own. But a request that waits hundreds of times would hold its thread
for as long as all of these limits together. A caller may wait for less than READ_DEADLINE_MS, and
say so (infra/api/request.py).

Writes have none: they wait a few times, and what follows a commit must not be left out.
"""

import time
from contextvars import ContextVar, Token
from typing import NamedTuple

from django.conf import settings

# In the environment of a request: when it had arrived, by the monotonic clock. No header sets it.
ARRIVED = "tideline.arrived"


class Deadline(NamedTuple):
    """By the monotonic clock. `half_at`: when half of the time is over. `is_callers`: the caller
    chose it, and no longer waits after it."""

    ends_at: float
    half_at: float
    is_callers: bool


_NEVER = Deadline(float("inf"), float("inf"), is_callers=False)
_current: ContextVar[Deadline] = ContextVar("tideline_read_deadline", default=_NEVER)

# For the request path, where a context manager would be measurable.
end_deadline = _current.reset


def begin_deadline(caller_ends_at: float | None = None) -> Token[Deadline]:
    """From now on, until `end_deadline`, this read has READ_DEADLINE_MS. Cost: under 1 us.

    `caller_ends_at`: when its caller ends to wait, if that is earlier. A read inside another read,
    as of a page that asks the API, keeps the deadline of that one.
    """
    now, whole_s = time.monotonic(), settings.READ_DEADLINE_MS / 1000
    ends_at = min(now + whole_s, _current.get().ends_at)
    if caller_ends_at is not None and caller_ends_at < ends_at:
        half_at = (now + caller_ends_at) / 2
        return _current.set(Deadline(caller_ends_at, half_at, is_callers=True))
    return _current.set(Deadline(ends_at, ends_at - whole_s / 2, is_callers=False))


def has_passed() -> bool:
    """Whether the time of this read is over."""
    return _current.get().ends_at < time.monotonic()


def left_s() -> float:
    """How long this read may still wait; never below 0."""
    return max(_current.get().ends_at - time.monotonic(), 0.0)


def has_caller_gone() -> bool:
    """Whether the time is over that the caller of this read chose."""
    return _current.get().is_callers and has_passed()


def is_half_over() -> bool:
    """Whether a read should stop to search for more: it still has to load what it shows."""
    return _current.get().half_at < time.monotonic()
