"""Bringing back what has died, slower each time it dies again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from config.services import ServiceError

# They end in any order, and are begun again at times of their own: all are looked at by turns.
_POLL_S = 0.2
_LONGEST_WAIT_S = 30.0
# Who ran this long had no trouble starting.
_HEALTHY_S = 60.0


class Restartable(Protocol):
    name: str

    @property
    def is_running(self) -> bool: ...

    def begin(self) -> None: ...


@dataclass
class Restarter:
    """One process and what is known of its deaths. Times are of one clock, in seconds."""

    process: Restartable
    first_wait_s: float
    report: Callable[[str], None]
    began_at: float
    wait_s: float = 0.0
    restart_at: float | None = None

    def check(self, now: float) -> None:
        """Notices a death and reports it; starts the process again when its time has come."""
        if self.process.is_running:
            return
        if self.restart_at is None:
            self._plan(now)
        elif now >= self.restart_at:
            self._restart(now)

    def _plan(self, now: float) -> None:
        lived = now - self.began_at >= _HEALTHY_S or self.wait_s == 0
        self.wait_s = self.first_wait_s if lived else min(self.wait_s * 2, _LONGEST_WAIT_S)
        self.restart_at = now + self.wait_s
        self.report(f"  {self.process.name} died; starting it again in {self.wait_s:.0f} s")

    def _restart(self, now: float) -> None:
        try:
            self.process.begin()
        except ServiceError as error:
            self.report(f"  {error}")
        self.began_at, self.restart_at = now, None


def keep_running(watches: Sequence[Restarter]) -> None:
    """Looks after all of them, forever."""
    while True:
        for watch in watches:
            watch.check(time.monotonic())
        time.sleep(_POLL_S)
