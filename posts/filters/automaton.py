"""Finds all keywords of a viewer in a text, in one pass: the automaton of Aho and Corasick (1975).

The cost is linear in the text, also for the worst keywords. The packages for it report each place
of each keyword: keywords inside each other make 50 results for each character. This one only says
which keywords are there.
"""

from collections import deque
from collections.abc import Iterable
from itertools import accumulate
from operator import getitem
from typing import Self

# Steps that an automaton remembers at most. Without them a step looks at the states behind it.
MOST_REMEMBERED = 4_000
_NONE: frozenset[int] = frozenset()


class _State(dict[str, "_State"]):
    """The longest part of a keyword that ends here in the text. Maps the next sign to a state.

    `behind`: the state of the longest shorter part; None for the state at the start. `found`: the
    numbers of all keywords that end here.
    """

    __slots__ = ("behind", "found", "left")
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, left: list[int]) -> None:
        self.behind: _State | None = None
        self.found = _NONE
        self.left = left

    def __missing__(self, sign: str) -> "_State":
        state: _State = self
        after: _State | None = None
        while after is None and state.behind is not None:
            state = state.behind
            after = state.get(sign)
        after = state if after is None else after
        if self.left[0] > 0:
            self.left[0] -= 1
            self[sign] = after
        return after


class Automaton:
    """Keywords that are ready to be found. `bytes`: about what it takes when all is remembered."""

    def __init__(self, start: _State, states: int) -> None:
        self._start = start
        self.has_keywords = states > 1
        self.bytes = 250 * states + 60 * MOST_REMEMBERED

    @classmethod
    def of(cls, keywords: Iterable[tuple[int, str]]) -> Self:
        """`keywords`: with their numbers. Cost: linear in their lengths."""
        start, states = _State([MOST_REMEMBERED]), 1
        for number, keyword in keywords:
            state = start
            for sign in keyword:
                if sign not in state:
                    state[sign] = _State(start.left)
                    states += 1
                state = state[sign]
            state.found |= {number}
        _connect(start)
        return cls(start, states)

    def find(self, text: str) -> frozenset[int]:
        """The numbers of the keywords that are in the text."""
        ends = {state.found for state in set(accumulate(text, getitem, initial=self._start))}
        return _NONE.union(*ends)


def _connect(start: _State) -> None:
    """Sets `behind` of all states, those of short parts first, and adds what is found behind."""
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for sign, after in state.items():
            after.behind = start if state is start else _after_behind(state, sign)
            after.found |= after.behind.found
            waiting.append(after)


def _after_behind(state: _State, sign: str) -> _State:
    behind = state.behind
    while behind is not None:
        if (after := behind.get(sign)) is not None:
            return after
        start, behind = behind, behind.behind
    return start
