"""How a person, or systemd, stops a run: Ctrl-C or SIGTERM once after the batch, twice at once."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STEP_S = 0.1
STDERR = 2


class StopRequest:
    """Whether the run is to stop. Signals reach it in the main thread only, as Python has it."""

    def __init__(self) -> None:
        self.is_asked = False

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM asks; the second raises KeyboardInterrupt."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def pause(self, seconds: float) -> bool:
        """Waits; False, and at once, when the run is to stop.

        In small steps: Python goes back to sleep after a signal's handler has run.
        """
        deadline = time.monotonic() + seconds
        while not self.is_asked and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, STEP_S))
        return not self.is_asked

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Runs between any two instructions: a write to sys.stderr could break in on another."""
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True
        with suppress(OSError):  # nobody reads
            os.write(STDERR, b"\nfinishing the batch in hand; once more leaves at once\n")
