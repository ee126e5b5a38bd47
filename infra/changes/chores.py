"""What the compensator does beside draining, now and then: chores of the apps above.

An app registers its chores when it is ready. They are done by the process that compensates for
ever, between two rounds, so they have to be short: changes wait meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from infra.changes.errors import UNREACHABLE
from infra.sharding.placement import Placement, is_allowed

log = structlog.get_logger()

# Takes a database.
Chore = Callable[[str], object]
_chores: dict[Chore, float] = {}
# Of chores that are not only done on shards.
_placements: dict[Chore, Placement] = {}


def chore(every_s: float, placement: Placement = Placement.SHARDED) -> Callable[[Chore], Chore]:
    """Registers what each compensator does on each of these databases about every so many seconds.

    Without `placement`: on the shards.
    """

    def register(function: Chore) -> Chore:
        _chores[function] = every_s
        _placements[function] = placement
        return function

    return register


@dataclass
class Chores:
    """When one compensator does which chore next."""

    clock_s: Callable[[], float] = time.monotonic
    _due_s: dict[Chore, float] = field(default_factory=dict)

    def do_due(self, aliases: Sequence[str]) -> None:
        """Does what is due on those of these databases that it is for."""
        for function, every_s in _chores.items():
            if self.clock_s() >= self._due_s.get(function, float("-inf")):
                self._due_s[function] = self.clock_s() + every_s
                do_on_each(function, aliases)


def do_on_each(function: Chore, aliases: Sequence[str]) -> None:
    """A database where it fails, even by a bug, keeps neither another nor a change waiting."""
    placement = _placements.get(function, Placement.SHARDED)
    for alias in aliases:
        if not is_allowed(placement, alias):
            continue
        try:
            function(alias)
        except Exception as error:
            trace = not isinstance(error, UNREACHABLE)
            name = function.__name__
            log.warning("chore.failed", chore=name, alias=alias, error=str(error), exc_info=trace)
