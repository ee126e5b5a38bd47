"""The loads in which this process has a part, by their load tokens."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# How long a thread waits for the load of another thread.
PATIENCE_S = 5.0


class LoadsInProgress:
    """Load tokens, each with an event that comes when its load has ended.

    A thread enters its own token before Redis has it. So a token of this process that another
    thread finds in Redis is here, or its load has ended.
    """

    def __init__(self) -> None:
        self._ended: dict[bytes, threading.Event] = {}

    @contextmanager
    def enter(self, token: bytes) -> Iterator[bool]:
        """Whether this thread is the first one with the token. Otherwise the first one has left.

        The first one has the load to make, or to watch if it is another process's.
        """
        own = threading.Event()
        first = self._ended.setdefault(token, own)  # one step, so two threads are never first
        if first is not own:
            _wait(first)
            yield False
            return
        try:
            yield True
        finally:
            del self._ended[token]
            own.set()


def _wait(ended: threading.Event) -> None:
    ended.wait(PATIENCE_S)


LOADS_IN_PROGRESS = LoadsInProgress()
