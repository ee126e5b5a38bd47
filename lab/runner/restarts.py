"""Restarts processes that have died. Each early death doubles the wait before the next restart."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.services import ServiceError

_POLL_S = 0.2
_LONGEST_WAIT_S = 30.0
# A process that ran this long had no trouble starting: the next wait is short again.
_HEALTHY_S = 60.0


class Restartable(Protocol):
    name: str

    @property
    def is_running(self) -> bool: ...

    def begin(self) -> None: ...


@dataclass
class Restarter:
    """Restarts one process. All times are seconds of one clock."""

    process: Restartable
    first_wait_s: float
    report: Callable[[str], None]
    began_at: float
    wait_s: float = 0.0
    restart_at: float | None = None

    def check(self, now: float) -> None:
        """Reports a death once, and starts the process again when the wait is over."""
        if self.process.is_running:
            return
        if self.restart_at is None:
            self._plan(now)
        elif now >= self.restart_at:
            self._restart(now)

    def _plan(self, now: float) -> None:
        was_healthy = now - self.began_at >= _HEALTHY_S or self.wait_s == 0
        self.wait_s = self.first_wait_s if was_healthy else min(self.wait_s * 2, _LONGEST_WAIT_S)
        self.restart_at = now + self.wait_s
        self.report(f"  {self.process.name} died; starting it again in {self.wait_s:.0f} s")

    def _restart(self, now: float) -> None:
        try:
            self.process.begin()
        except ServiceError as error:
            self.report(f"  {error}")
        self.began_at, self.restart_at = now, None


def keep_running(restarters: Sequence[Restarter]) -> None:
    """Checks all processes again and again. Never returns; a signal ends it by an exception."""
    while True:
        for restarter in restarters:
            restarter.check(time.monotonic())
        time.sleep(_POLL_S)
