"""Spares calls to a Tideline that is away: after several failures in a row they fail at once.

One call in a while is let through. Its answer closes the breaker. An answer of Tideline is no
failure, also if it is a refusal or says that one store is away (503): the others may be served.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tideline_client.errors import DeadlineExceeded, Refused, TidelineError, Unreachable

FAILURES = 5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
BAD_GATEWAY = 502


class Breaker:
    """Of one address. It may be used by several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._lock = now, threading.Lock()
        self._failures, self._pause_s, self._next_at = 0, FIRST_PAUSE_S, 0.0

    @contextmanager
    def watching(self, request_id: str) -> Iterator[None]:
        """Around one request. Raises: Unreachable, without a request, while it is open."""
        self._let_in(request_id)
        try:
            yield
        except TidelineError as error:
            self._note(_is_away(error))
            raise
        self._note(is_away=False)

    def _let_in(self, request_id: str) -> None:
        with self._lock:
            if self._failures < FAILURES:
                return
            if self._now() < self._next_at:
                text = "Tideline did not answer a moment ago, and is not asked yet"
                raise Unreachable(text, request_id)
            self._wait()

    def _note(self, is_away: bool) -> None:
        with self._lock:
            if not is_away:
                self._failures, self._pause_s = 0, FIRST_PAUSE_S
                return
            self._failures += 1
            if self._failures == FAILURES:
                self._wait()

    def _wait(self) -> None:
        """Random, so that many processes do not ask together."""
        self._next_at = self._now() + self._pause_s * (1 + random.random()) / 2
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)


def _is_away(error: TidelineError) -> bool:
    is_proxy = isinstance(error, Refused) and error.status == BAD_GATEWAY
    return is_proxy or isinstance(error, Unreachable | DeadlineExceeded)
