"""The deadline of a read. After it a request begins no other wait for a database.

Each wait has a limit of its own. But a request that waits hundreds of times would hold its thread
for as long as all of these limits together.

Writes have none: they wait a few times, and what follows a commit must not be left out.
"""

import time
from contextvars import ContextVar, Token

from django.conf import settings

_NEVER = float("inf")
# By the monotonic clock.
_ends_at: ContextVar[float] = ContextVar("tideline_read_ends_at", default=_NEVER)

# For the request path, where a context manager would be measurable.
end_deadline = _ends_at.reset


def begin_deadline() -> Token[float]:
    """From now on, until `end_deadline`, this read has READ_DEADLINE_MS. Cost: under 0.5 us.

    A read inside another read, as of a page that asks the API, keeps the deadline of that one.
    """
    ends_at = time.monotonic() + settings.READ_DEADLINE_MS / 1000
    return _ends_at.set(min(ends_at, _ends_at.get()))


def has_passed() -> bool:
    """Whether the time of this read is over."""
    return _ends_at.get() < time.monotonic()


def is_half_over() -> bool:
    """Whether a read should stop to search for more: it still has to load what it shows."""
    return _ends_at.get() - time.monotonic() < settings.READ_DEADLINE_MS / 2000
