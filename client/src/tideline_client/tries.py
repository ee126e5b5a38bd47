"""How long one call goes on, and after which failures it is tried again.

A pause is random below a bound that doubles, so that many clients do not come back together
(full jitter, of the AWS Architecture Blog). `Retry-After` is a least pause. A pause that would end
after the deadline is not made: the error is raised at once.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tideline_client.errors import DeadlineExceeded, Postponed, TidelineError, Unreachable

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
LONGEST_CONNECT_S = 2.0
LONGEST_DEADLINE_MS = 600_000
# A deadline that is over here leaves no time for another try; one of a proxy (504) may.
MAY_PASS = (DeadlineExceeded, Postponed, Unreachable)


@dataclass(frozen=True, slots=True)
class Patience:
    """`deadline_ms`: of a whole call with all its tries. `retries`: tries after the first one."""

    deadline_ms: int
    retries: int

    def __post_init__(self) -> None:
        if not 1 <= self.deadline_ms <= LONGEST_DEADLINE_MS:
            raise ValueError(f"deadline_ms must be from 1 to {LONGEST_DEADLINE_MS}")
        if self.retries < 0:
            raise ValueError("retries must be 0 or more")


class Tries:
    """One call from its first request to its end."""

    def __init__(
        self,
        patience: Patience,
        is_repeatable: bool,
        now: Callable[[], float] = time.monotonic,
        random_part: Callable[[], float] = random.random,
    ) -> None:
        self._now, self._random_part = now, random_part
        self._ends_at = now() + patience.deadline_ms / 1000
        self._left = patience.retries if is_repeatable else 0
        self._longest_s = FIRST_PAUSE_S
        self.request_id = uuid4().hex

    def remaining_s(self) -> float:
        """Raises: DeadlineExceeded."""
        remaining = self._ends_at - self._now()
        if remaining <= 0:
            raise DeadlineExceeded("the deadline of this call is over", self.request_id)
        return remaining

    def headers(self) -> dict[str, str]:
        """Of the next request."""
        remaining_ms = max(1, int(self.remaining_s() * 1000))
        return {"Tideline-Deadline-Ms": str(remaining_ms), "X-Request-Id": self.request_id}

    def pause_after(self, error: TidelineError) -> float:
        """How many seconds to wait before the next request. Raises: the error, if none follows."""
        if not isinstance(error, MAY_PASS) or self._left == 0:
            raise error
        pause = self._random_part() * self._longest_s
        if isinstance(error, Postponed):
            pause += error.retry_after_s
        if self._now() + pause >= self._ends_at:
            raise error
        self._left -= 1
        self._longest_s = min(2 * self._longest_s, LONGEST_PAUSE_S)
        return pause


class RemainingTime(dict[str, Any]):
    """The time-outs of one request as httpx reads them: each wait gets what is left of the call.

    Fixed numbers would add up: to connect, to send and to read would each have the whole deadline.
    """

    def __init__(self, tries: Tries) -> None:
        super().__init__()
        self._tries = tries

    def get(self, key: str, default: Any = None) -> float:
        remaining = self._tries.remaining_s()
        return min(remaining, LONGEST_CONNECT_S) if key == "connect" else remaining
