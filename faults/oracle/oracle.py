"""Whether a quiet service answers what its clients' histories leave possible."""

from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from faults.history.calls import ClientCall
from faults.history.edges import Edges
from faults.history.entries import Entries
from faults.history.promises import Promises, StartingWorld
from faults.history.violations import Violation
from faults.oracle.relations import check_relations
from faults.oracle.state import QuietState
from faults.oracle.timelines import TimelineChecker


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
