"""Whether all answers of a history can be right.

The history itself says what may be true at each moment, so nothing else is asked. The rules are in
`pages.py` (home timelines), `polls.py` (clients that poll) and `facts.py` (relationships, counts).

**Cost**: sorting the calls, then each read costs the length of its page and a few bisections for
each account that its reader has ever followed. So it is linear in the length of the history.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter

from lab.faults.history.calls import ClientCall
from lab.faults.history.edges import Edges
from lab.faults.history.entries import Entries
from lab.faults.history.facts import FactChecker
from lab.faults.history.pages import ClientMemory, PageChecker
from lab.faults.history.polls import PollChecker
from lab.faults.history.promises import Promises, StartingWorld
from lab.faults.history.violations import Violation

# A broken service breaks a rule at each read; the first ones say which.
MOST_VIOLATIONS = 200


def check_history(
    calls: Iterable[ClientCall],
    promises: Promises | None = None,
    world: StartingWorld | None = None,
) -> list[Violation]:
    """The answers that no order of the writes explains, at most MOST_VIOLATIONS, in their order."""
    history = sorted(calls, key=attrgetter("ended_s"))
    violations = _HistoryChecker(
        history, promises or Promises(), world or StartingWorld()
    ).violations()
    return [violation for violation, _ in zip(violations, range(MOST_VIOLATIONS), strict=False)]


class _HistoryChecker:
    def __init__(self, history: list[ClientCall], promises: Promises, world: StartingWorld) -> None:
        entries, edges = Entries(history, promises, world), Edges(history, promises, world)
        self._history, self._entries = history, entries
        self._pages = PageChecker(entries, edges, promises)
        self._polls = PollChecker(entries, self._pages)
        self._facts = FactChecker(entries, edges)
        self._memories: dict[int, ClientMemory] = defaultdict(ClientMemory)

    def violations(self) -> Iterator[Violation]:
        """A client's calls do not overlap, so in the order of their ends they are in its order."""
        for call in self._history:
            self._entries.advance(call.ended_s)
            if call.outcome == "ok":
                yield from self._check(call)
            elif call.kind == "poll":
                self._polls.end(call.client)

    def _check(self, call: ClientCall) -> Iterator[Violation]:
        memory = self._memories[call.client]
        if call.kind == "home":
            yield from self._pages.check(call, memory)
            if call.max_id is None:
                self._polls.begin(call)
        elif call.kind == "poll":
            yield from self._polls.check(call, memory)
        elif call.kind in ("relationship", "counts"):
            yield from self._facts.check(call)
