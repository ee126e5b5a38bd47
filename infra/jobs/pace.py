"""How fast a run may go."""

import time
from collections.abc import Callable


class Pace:
    """At most `rate` rows a second. A batch that took longer saves nothing up for a burst."""

    def __init__(self, rate: int | None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock_s = clock_s
        self._began_s = clock_s()

    def wait_s(self, rows: int) -> float:
        """How long to wait after a batch of so many rows. Before the next, call `go_on`."""
        if self._rate is None:
            return 0.0
        return max(self._began_s + rows / self._rate - self._clock_s(), 0.0)

    def go_on(self) -> None:
        self._began_s = self._clock_s()
