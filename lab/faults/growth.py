"""Whether memory, files and connections grow as long as a process lives.

A process that is killed begins again with little, so a curve over several lives says nothing. Each
life is a curve of its own. Lives of one kind of process (all webs, all drainers) have one slope
together: least squares, with a level of its own for each life. Processes that live as long as the
run are judged apart from those that were killed. A killed one may grow up to what a whole life of
its kind needs.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from lab.faults.resources import ResourceSample

# Start-up and caches that fill are no growth: the first time of each life does not count.
WARM_UP_S = 120.0
# A shorter rest of a life says nothing.
LEAST_S = 120.0
_FLAT_SHARE = 0.25
KILLED = ", killed"
# A thread opens a connection to a store when it first needs it, which may be late in a life.
_FLAT_ROOM = {"MB": 12.0, "files": 24.0, "connections": 24.0}

Curve = Sequence[tuple[float, float]]  # seconds, value


class Growth(NamedTuple):
    """`level`: the mean. `longest_s`: the longest life after its warm-up. `highest`: of all lives;
    `highest_whole`: of the processes of this kind that lived as long as the run."""

    name: str
    unit: str
    level: float
    slope_per_s: float
    lives: int
    longest_s: float
    highest: float
    highest_whole: float

    @property
    def is_flat(self) -> bool:
        """It grows less than the room, or than a quarter, in the longest life.

        Or it stays below what a process needs that goes on: threads open connections late.
        """
        if self.highest <= self.highest_whole:
            return True
        room = max(self.level * _FLAT_SHARE, _FLAT_ROOM[self.unit])
        return self.slope_per_s * self.longest_s <= room

    @property
    def text(self) -> str:
        return (
            f"{self.level:.0f} {self.unit}, {self.slope_per_s * 60:+.2f} a minute"
            f" in up to {self.longest_s / 60:.0f} min, lives: {self.lives}"
        )


def growths(samples: Sequence[ResourceSample]) -> list[Growth]:
    """By kind of process and unit. Empty if no process lived for long enough."""
    groups: dict[tuple[str, str], list[Curve]] = defaultdict(list)
    for (process, pid, unit), curve in curves(samples).items():
        settled = [point for point in curve if point[0] >= curve[0][0] + WARM_UP_S]
        if settled and settled[-1][0] - settled[0][0] >= LEAST_S:
            is_whole = all(sample.lives.get(process) in (pid, None) for sample in samples)
            kind = process.rstrip("0123456789")
            groups[kind if is_whole else kind + KILLED, unit].append(settled)
    whole = {(name + KILLED, unit): lives for (name, unit), lives in groups.items()}
    return [
        _growth(name, unit, lives, _highest(whole.get((name, unit), ())))
        for (name, unit), lives in sorted(groups.items())
    ]


def curves(samples: Sequence[ResourceSample]) -> Mapping[tuple[str, int, str], Curve]:
    """By process, process id and unit."""
    points: dict[tuple[str, int, str], list[tuple[float, float]]] = defaultdict(list)
    for sample in samples:
        for name, value in sample.values.items():
            process, _, unit = name.rpartition(" ")
            points[process, sample.lives[process], unit].append((sample.at_s, value))
    return points


def _highest(lives: Sequence[Curve]) -> float:
    return max((value for curve in lives for _, value in curve), default=0.0)


def _growth(name: str, unit: str, lives: Sequence[Curve], highest_whole: float) -> Growth:
    level = fmean(value for curve in lives for _, value in curve)
    longest_s = max(curve[-1][0] - curve[0][0] for curve in lives)
    highest = _highest(lives), highest_whole
    return Growth(name, unit, level, _slope(lives), len(lives), longest_s, *highest)


def _slope(lives: Sequence[Curve]) -> float:
    """The slope that all curves share; each has a level of its own."""
    moments = [pair for curve in lives for pair in _moments(curve)]
    return sum(xy for _, xy in moments) / sum(xx for xx, _ in moments)


def _moments(curve: Curve) -> Iterator[tuple[float, float]]:
    middle_s, level = fmean(at_s for at_s, _ in curve), fmean(value for _, value in curve)
    for at_s, value in curve:
        yield (at_s - middle_s) ** 2, (at_s - middle_s) * (value - level)
