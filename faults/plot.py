"""A plot of a soak as an SVG: a panel for each unit, a line for each life of a process, bars for
faults."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from faults.history.promises import Span
from faults.resources import ResourceSample

_WIDTH, _HEIGHT, _LEFT, _GAP, _LEGEND = 960, 200, 60, 60, 160
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a4fff", "#b8860b", "#444444")
_TITLES = {
    "MB": "resident memory of each process, MB",
    "files": "open files of each process",
    "connections": "connections to each store, and its own processes or files",
}
_TICKS = 4

Point = tuple[float, float]  # seconds, value


class PlotPanel(NamedTuple):
    """`top`: of the panel, in units of the SVG. `end_s`, `most`: what the edges mean."""

    top: float
    end_s: float
    most: float

    def x(self, at_s: float) -> float:
        return _LEFT + at_s * _WIDTH / self.end_s

    def y(self, value: float) -> float:
        return self.top + _HEIGHT - value * _HEIGHT / self.most


def plot(samples: Sequence[ResourceSample], spans: Sequence[Span]) -> str:
    """`spans`: of the faults, in seconds of the same clock as the samples."""
    end_s = max((sample.at_s for sample in samples), default=1.0)
    panels = "".join(
        _panel(unit, number * (_HEIGHT + _GAP) + _GAP / 2, samples, spans, end_s)
        for number, unit in enumerate(_TITLES)
    )
    size = f"0 0 {_LEFT + _WIDTH + _LEGEND} {len(_TITLES) * (_HEIGHT + _GAP) + _GAP / 2}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif"'
        f' font-size="12">{panels}</svg>\n'
    )


def _panel(
    unit: str, top: float, samples: Sequence[ResourceSample], spans: Sequence[Span], end_s: float
) -> str:
    lives = _lives(unit, samples)
    most = max((value for some in lives.values() for one in some for _, value in one), default=1.0)
    panel = PlotPanel(top, end_s, most or 1.0)
    bars = "".join(_bar(panel, span) for span in spans)
    lines = "".join(_process(panel, number, *one) for number, one in enumerate(lives.items()))
    title = f'<text x="{_LEFT}" y="{top - 8}">{_TITLES[unit]}; faults are red</text>'
    frame = (
        f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none"'
        f' stroke="#999"/>'
    )
    return f"{bars}{title}{frame}{_ticks(panel, unit)}{lines}"


def _lives(unit: str, samples: Sequence[ResourceSample]) -> Mapping[str, Sequence[Sequence[Point]]]:
    """By process: a list of points for each of its lives."""
    points: dict[str, list[tuple[int, Point]]] = defaultdict(list)
    for sample in samples:
        for process, pid in sample.lives.items():
            if (value := sample.values.get(f"{process} {unit}")) is not None:
                points[process].append((pid, (sample.at_s, value)))
    return {process: _split(points[process]) for process in sorted(points)}


def _split(points: Sequence[tuple[int, Point]]) -> Sequence[Sequence[Point]]:
    cuts = [n for n, (one, other) in enumerate(pairwise(points), 1) if one[0] != other[0]]
    return [
        [point for _, point in points[first:last]]
        for first, last in pairwise([0, *cuts, len(points)])
    ]


def _bar(panel: PlotPanel, span: Span) -> str:
    width = max(panel.x(span.ended_s) - panel.x(span.began_s), 1)
    return (
        f'<rect x="{panel.x(span.began_s):.1f}" y="{panel.top}" width="{width:.1f}"'
        f' height="{_HEIGHT}" fill="#f2d7d5"/>'
    )


def _ticks(panel: PlotPanel, unit: str) -> str:
    """What the edges mean: values at the left, minutes below."""
    parts = []
    for number in range(_TICKS + 1):
        value, at_s = panel.most * number / _TICKS, panel.end_s * number / _TICKS
        parts.append(
            f'<text x="{_LEFT - 6}" y="{panel.y(value) + 4:.1f}" text-anchor="end">'
            f"{value:.0f}{' MB' if unit == 'MB' else ''}</text>"
            f'<text x="{panel.x(at_s):.1f}" y="{panel.top + _HEIGHT + 16}" text-anchor="middle">'
            f"{at_s / 60:.1f} min</text>"
        )
    return "".join(parts)


def _process(panel: PlotPanel, number: int, name: str, lives: Sequence[Sequence[Point]]) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    label = f'x="{_LEFT + _WIDTH + 8}" y="{panel.top + 14 + 16 * number}" fill="{colour}"'
    return f"<text {label}>{escape(name)}</text>" + "".join(
        f'<polyline points="{" ".join(f"{panel.x(s):.1f},{panel.y(v):.1f}" for s, v in points)}"'
        f' fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for points in lives
    )
