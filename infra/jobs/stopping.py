"""Stops a run: after the batch at the first Ctrl-C or SIGTERM, at once at the second."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STEP_S = 0.1
STDERR = 2


class StopRequest:
    """Whether a stop was requested. Python delivers signals to the main thread only."""

    def __init__(self) -> None:
        self.is_requested = False

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM requests a stop, the second raises KeyboardInterrupt."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def pause(self, seconds: float) -> bool:
        """Waits; returns False at once when a stop is requested.

        It sleeps in small steps, because Python continues a sleep after a signal handler.
        """
        deadline = time.monotonic() + seconds
        while not self.is_requested and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, STEP_S))
        return not self.is_requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Writes to the file descriptor: a write to sys.stderr could interrupt another one."""
        if self.is_requested:
            raise KeyboardInterrupt
        self.is_requested = True
        with suppress(OSError):  # standard error is closed
            os.write(STDERR, b"\nfinishing the current batch; once more stops at once\n")
