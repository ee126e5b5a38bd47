"""Whether a quiet service answers what its clients' histories leave possible."""

from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from lab.faults.history.calls import ClientCall
from lab.faults.history.edges import Edges
from lab.faults.history.entries import Entries
from lab.faults.history.promises import Promises, StartingWorld
from lab.faults.history.violations import Violation
from lab.faults.oracle.relations import check_relations
from lab.faults.oracle.state import QuietState
from lab.faults.oracle.timelines import TimelineChecker


def check_end_state(
    calls: Iterable[ClientCall], state: QuietState, world: StartingWorld | None = None
) -> list[Violation]:
    """The answers at the end that no order of the writes explains.

    A write of unknown outcome may have happened or not; the end state says which, and then all its
    effects must agree.
    """
    history = sorted(calls, key=attrgetter("ended_s"))
    given = (history, Promises(), world or StartingWorld())
    edges, timelines = Edges(*given), TimelineChecker(Entries(*given), state)
    return [*chain(check_relations(edges, state), timelines.violations())]
