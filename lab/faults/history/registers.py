"""One fact that calls switch on and off, and what a reader may find it to be.

A write takes effect once, at some time from its begin to its answer; one without an answer at some
later time, or never. So at a given time several writes may have been the last one. A write cannot
be the last if another one began after its answer and must be visible by then.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf
from typing import NamedTuple


class FactWrite(NamedTuple):
    """`ended_s`: infinite if the outcome is unknown. `seen_s`: from then on a reader sees it."""

    began_s: float
    ended_s: float
    seen_s: float
    value: bool


class Register:
    """The writes of one fact. Cost of each question: three bisections."""

    def __init__(self, initial: bool, writes: Iterable[FactWrite]) -> None:
        by_begin = sorted(writes)
        sure = sorted((write.seen_s, write.began_s) for write in by_begin if write.ended_s < inf)
        self._initial = initial
        self._seen_s = [seen_s for seen_s, _ in sure]
        self._latest_begin_s = [*accumulate((began_s for _, began_s in sure), max)]
        self._by_value = {value: _Candidates.of(by_begin, value) for value in (False, True)}

    def may_be(self, value: bool, began_s: float, ended_s: float) -> bool:
        """True if a read in this time may find the value."""
        overwritten_s = self._overwritten_s(began_s)
        if overwritten_s == -inf and value == self._initial:
            return True
        latest_end_s = self._by_value[value].latest_end_s(ended_s)
        return -inf < latest_end_s >= overwritten_s

    def must_be(self, value: bool, began_s: float, ended_s: float) -> bool:
        """True if each read in this time finds the value."""
        return not self.may_be(not value, began_s, ended_s)

    def final(self) -> frozenset[bool]:
        """The values that are possible after the last call, when everything is visible."""
        return frozenset(value for value in (False, True) if self.may_be(value, inf, inf))

    def _overwritten_s(self, at_s: float) -> float:
        """Writes that were answered before this time have been overwritten at `at_s`."""
        count = bisect_left(self._seen_s, at_s)
        return self._latest_begin_s[count - 1] if count else -inf


class _Candidates(NamedTuple):
    """The writes of one value, by their begin."""

    began_s: Sequence[float]
    end_s: Sequence[float]  # the latest end of this one and those before

    @classmethod
    def of(cls, writes: Sequence[FactWrite], value: bool) -> "_Candidates":
        chosen = [write for write in writes if write.value == value]
        ends = accumulate((write.ended_s for write in chosen), max)
        return cls([write.began_s for write in chosen], [*ends])

    def latest_end_s(self, before_s: float) -> float:
        """The latest end of the writes that began before this time."""
        count = bisect_left(self.began_s, before_s)
        return self.end_s[count - 1] if count else -inf


UNWRITTEN = Register(False, ())
