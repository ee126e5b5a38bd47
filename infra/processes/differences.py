"""Which processes differ from the others. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from infra.processes.fingerprint import FACTS, OF_RELEASES

# Records of polls and the index by author take the clock of web processes.
MOST_SKEW_S = 1.0
CLOCK = "clock"


class Process(NamedTuple):
    """`clock_s`: how far its clock is ahead of that of Redis; None until it is measured."""

    facts: Mapping[str, str]
    clock_s: float | None = None


class Difference(NamedTuple):
    """`names`: of the processes that have something else than most others."""

    fact: str
    names: Sequence[str]

    @property
    def is_fault(self) -> bool:
        """Whether it is wrong at any time. Releases differ while one replaces the other."""
        return self.fact not in OF_RELEASES

    def __str__(self) -> str:
        return f"{', '.join(self.names)}: another {FACTS.get(self.fact, self.fact)} than the others"


def find_differences(processes: Mapping[str, Process]) -> list[Difference]:
    """What differs, by fact. With as many processes on each side, the later names are named."""
    return [*_facts(processes), *_clocks(processes)]


def _facts(processes: Mapping[str, Process]) -> Iterator[Difference]:
    for fact in FACTS:
        names: defaultdict[str | None, list[str]] = defaultdict(list)
        for name, process in sorted(processes.items()):
            names[process.facts.get(fact)].append(name)
        usual = max(names.values(), key=len, default=[])
        if others := sorted({*processes} - {*usual}):
            yield Difference(fact, others)


def _clocks(processes: Mapping[str, Process]) -> Iterator[Difference]:
    clocks = {name: each.clock_s for name, each in processes.items() if each.clock_s is not None}
    usual = median(clocks.values()) if clocks else 0.0
    off = sorted(name for name, clock_s in clocks.items() if abs(clock_s - usual) > MOST_SKEW_S)
    if off:
        yield Difference(CLOCK, off)
