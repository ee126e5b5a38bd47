"""What a history is judged by: until when an acknowledged write may still be invisible to others.

A write of the account itself has no such time: its next read shows it. The same holds for what was
taken away: a post that was deleted is gone for all from the answer on.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lab.faults.history.calls import Seen

Pair = tuple[int, int]  # who acts, on which account


class Span(NamedTuple):
    """From the begin of a fault to its end."""

    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Promises:
    """Bounds of one experiment.

    `visible_s`: other accounts see a write so long after its answer. The product promises 100 ms
    for 99 of 100 posts (T17) and a second for counts, so a bound for all writes is longer, and all
    processes share the machine with the load.
    `recover_s`: so long after a fault everything that it delayed is visible.
    """

    visible_s: float = 3.0
    recover_s: float = 10.0
    faults: tuple[Span, ...] = ()

    def due_s(self, acked_s: float) -> float:
        """When others must see a write that was answered at `acked_s`."""
        due_s = acked_s + self.visible_s
        for fault in sorted(self.faults):
            if fault.began_s < due_s and acked_s < fault.ended_s + self.recover_s:
                due_s = max(due_s, fault.ended_s + self.recover_s)
        return due_s

    def is_quiet(self, began_s: float, ended_s: float) -> bool:
        """True if no fault, and no recovery from one, touches this time."""
        return not any(
            fault.began_s < ended_s and began_s < fault.ended_s + self.recover_s
            for fault in self.faults
        )


@dataclass(frozen=True, slots=True)
class StartingWorld:
    """What was there before the first call: follows (follower, followee) and entries."""

    follows: frozenset[Pair] = frozenset()
    entries: tuple[Seen, ...] = ()
