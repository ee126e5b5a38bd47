"""Line charts as one SVG: a panel for each chart, below each other."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT, _LEFT, _GAP, _LEGEND = 960, 200, 60, 60, 160
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a4fff", "#b8860b", "#444444")
_TICKS = 4

Point = tuple[float, float]
# A line is interrupted between its pieces.
Pieces = Sequence[Sequence[Point]]


class LineChart(NamedTuple):
    """`lines`: by name. `labels`: of points of the x axis, which ends at `end`.

    `unit`: behind each value at the left. `bars`: marked parts of the x axis, from and to.
    """

    title: str
    lines: Mapping[str, Pieces]
    end: float
    labels: Sequence[tuple[float, str]]
    unit: str = ""
    bars: Sequence[tuple[float, float]] = ()


class ChartPanel(NamedTuple):
    """`top`: of the panel, in units of the SVG. `end`, `most`: the meaning of its edges."""

    top: float
    end: float
    most: float

    def x(self, at: float) -> float:
        return _LEFT + at * _WIDTH / self.end

    def y(self, value: float) -> float:
        return self.top + _HEIGHT - value * _HEIGHT / self.most


def draw_charts(charts: Sequence[LineChart]) -> str:
    """The text of the SVG."""
    panels = "".join(
        _draw(chart, number * (_HEIGHT + _GAP) + _GAP / 2) for number, chart in enumerate(charts)
    )
    size = f"0 0 {_LEFT + _WIDTH + _LEGEND} {len(charts) * (_HEIGHT + _GAP) + _GAP / 2}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif"'
        f' font-size="12">{panels}</svg>\n'
    )


def _draw(chart: LineChart, top: float) -> str:
    values = (value for pieces in chart.lines.values() for piece in pieces for _, value in piece)
    panel = ChartPanel(top, chart.end, max(values, default=0.0) or 1.0)
    bars = "".join(_bar(panel, *bar) for bar in chart.bars)
    lines = "".join(_line(panel, number, *line) for number, line in enumerate(chart.lines.items()))
    title = f'<text x="{_LEFT}" y="{top - 8}">{escape(chart.title)}</text>'
    frame = (
        f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none"'
        f' stroke="#999"/>'
    )
    return f"{bars}{title}{frame}{_values(panel, chart.unit)}{_labels(panel, chart.labels)}{lines}"


def _bar(panel: ChartPanel, start: float, end: float) -> str:
    width = max(panel.x(end) - panel.x(start), 1)
    return (
        f'<rect x="{panel.x(start):.1f}" y="{panel.top}" width="{width:.1f}"'
        f' height="{_HEIGHT}" fill="#f2d7d5"/>'
    )


def _values(panel: ChartPanel, unit: str) -> str:
    values = [panel.most * number / _TICKS for number in range(_TICKS + 1)]
    digits = 0 if panel.most >= 2 * _TICKS else 1
    return "".join(
        f'<text x="{_LEFT - 6}" y="{panel.y(value) + 4:.1f}" text-anchor="end">'
        f"{value:,.{digits}f}{f' {unit}' if unit else ''}</text>"
        for value in values
    )


def _labels(panel: ChartPanel, labels: Sequence[tuple[float, str]]) -> str:
    return "".join(
        f'<text x="{panel.x(at):.1f}" y="{panel.top + _HEIGHT + 16}" text-anchor="middle">'
        f"{escape(text)}</text>"
        for at, text in labels
    )


def _line(panel: ChartPanel, number: int, name: str, pieces: Pieces) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    label = f'x="{_LEFT + _WIDTH + 8}" y="{panel.top + 14 + 16 * number}" fill="{colour}"'
    return f"<text {label}>{escape(name)}</text>" + "".join(
        _piece(panel, colour, points) for points in pieces
    )


def _piece(panel: ChartPanel, colour: str, points: Sequence[Point]) -> str:
    """A line through the points. Of a single point nothing of it would be seen, so it is a dot."""
    places = [(f"{panel.x(x):.1f}", f"{panel.y(y):.1f}") for x, y in points]
    if len(places) == 1:
        ((x, y),) = places
        return f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
    joined = " ".join(f"{x},{y}" for x, y in places)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
