"""Periodic tasks: short work that the compensator does at intervals, between drains.

Each app lists its own tasks in its `periodic.py`. `config/periodic.py` names them all.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from infra.sharding.placement import Placement, is_allowed

log = structlog.get_logger()


@dataclass(frozen=True)
class PeriodicTask:
    """`function(alias)` runs about every `period_s` seconds on each database of `placement`.

    Changes of the database wait while it runs, so it must be short. Every compensator runs it, so
    several may run at once. `cost` and `does` are for people, in Markdown: the reference has them.
    """

    name: str
    period_s: float
    placement: Placement
    cost: str
    does: str
    function: Callable[[str], object]


class PeriodicRunner:
    """Knows when one compensator runs each task next. The first run is at once."""

    def __init__(
        self,
        tasks: Sequence[PeriodicTask],
        outages: tuple[type[Exception], ...] = (),
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`outages`: errors of stores that are away. They are logged without a traceback."""
        self._tasks, self._outages, self._clock_s = tasks, outages, clock_s
        self._due_s: dict[PeriodicTask, float] = {}

    def run_due(self, aliases: Sequence[str]) -> None:
        """Runs each task that is due on those of the databases that its placement allows."""
        for task in self._tasks:
            if self._clock_s() >= self._due_s.get(task, float("-inf")):
                self._due_s[task] = self._clock_s() + task.period_s
                for alias in aliases:
                    if is_allowed(task.placement, alias):
                        self._run(task, alias)

    def _run(self, task: PeriodicTask, alias: str) -> None:
        """An error, even a bug, delays neither the other databases nor the changes."""
        try:
            task.function(alias)
        except Exception as error:
            log.warning(
                "periodic_task.failed",
                task=task.name,
                alias=alias,
                error=str(error),
                exc_info=not isinstance(error, self._outages),
            )
