"""A plot of a soak as an SVG: a chart for each unit, a line for each life of a process, bars for
faults."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from lab.faults.charts import LineChart, Pieces, Point, draw_charts
from lab.faults.history.promises import Span
from lab.faults.resources import ResourceSample

_TITLES = {
    "MB": "resident memory of each process, MB",
    "files": "open files of each process",
    "connections": "connections to each store, and its own processes or files",
}
_TICKS = 4


def plot(samples: Sequence[ResourceSample], spans: Sequence[Span]) -> str:
    """`spans`: of the faults, in seconds of the same clock as the samples."""
    return draw_charts([_chart(unit, samples, spans) for unit in _TITLES])


def _chart(unit: str, samples: Sequence[ResourceSample], spans: Sequence[Span]) -> LineChart:
    end_s = max((sample.at_s for sample in samples), default=1.0)
    moments = [end_s * number / _TICKS for number in range(_TICKS + 1)]
    return LineChart(
        title=f"{_TITLES[unit]}; faults are red",
        lines=_lives(unit, samples),
        end=end_s,
        labels=[(at_s, f"{at_s / 60:.1f} min") for at_s in moments],
        unit="MB" if unit == "MB" else "",
        bars=[(span.began_s, span.ended_s) for span in spans],
    )


def _lives(unit: str, samples: Sequence[ResourceSample]) -> Mapping[str, Pieces]:
    """By process: a list of points for each of its lives."""
    points: dict[str, list[tuple[int, Point]]] = defaultdict(list)
    for sample in samples:
        for process, pid in sample.lives.items():
            if (value := sample.values.get(f"{process} {unit}")) is not None:
                points[process].append((pid, (sample.at_s, value)))
    return {process: _split(points[process]) for process in sorted(points)}


def _split(points: Sequence[tuple[int, Point]]) -> Pieces:
    cuts = [n for n, (point, other) in enumerate(pairwise(points), 1) if point[0] != other[0]]
    return [
        [point for _, point in points[first:last]]
        for first, last in pairwise([0, *cuts, len(points)])
    ]
