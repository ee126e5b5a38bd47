"""What the compensator does beside draining, now and then: chores of the apps above.

An app registers its chores when it is ready. They are done by the process that compensates for
ever, between two rounds, so they have to be short: changes wait meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from infra.changes.errors import UNREACHABLE

log = structlog.get_logger()

# Takes the databases that the process looks after.
Chore = Callable[[Sequence[str]], None]
_chores: dict[Chore, float] = {}


def chore(every_s: float) -> Callable[[Chore], Chore]:
    """Registers what is to be done about every so many seconds by each compensator."""

    def register(function: Chore) -> Chore:
        _chores[function] = every_s
        return function

    return register


@dataclass
class Chores:
    """When one compensator does which chore next."""

    clock_s: Callable[[], float] = time.monotonic
    _due_s: dict[Chore, float] = field(default_factory=dict)

    def do_due(self, aliases: Sequence[str]) -> None:
        """Does what is due. A chore that fails, even by a bug, keeps no change waiting."""
        for function, every_s in _chores.items():
            if self.clock_s() < self._due_s.get(function, float("-inf")):
                continue
            self._due_s[function] = self.clock_s() + every_s
            try:
                function(aliases)
            except Exception as error:
                trace = not isinstance(error, UNREACHABLE)
                log.warning(
                    "chore.failed", chore=function.__name__, error=str(error), exc_info=trace
                )
