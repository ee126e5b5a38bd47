"""A plot of a soak as an SVG: one panel for each unit, a line for each process, bars for faults."""

from collections.abc import Sequence
from html import escape

from faults.history.promises import Span
from faults.resources import ResourceSample

_WIDTH, _HEIGHT, _LEFT, _GAP = 960, 200, 60, 50
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a4fff", "#b8860b", "#444444")
_UNITS = ("MB", "files", "connections")


def plot(samples: Sequence[ResourceSample], spans: Sequence[Span]) -> str:
    """`spans`: of the faults, in seconds of the same clock as the samples."""
    end_s = max((sample.at_s for sample in samples), default=1.0)
    panels = [
        _panel(unit, number * (_HEIGHT + _GAP) + _GAP, samples, spans, end_s)
        for number, unit in enumerate(_UNITS)
    ]
    height = len(_UNITS) * (_HEIGHT + _GAP) + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 160} {height}"'
        f' font-family="sans-serif" font-size="12">{"".join(panels)}</svg>\n'
    )


def _panel(
    unit: str, top: float, samples: Sequence[ResourceSample], spans: Sequence[Span], end_s: float
) -> str:
    names = sorted({n for s in samples for n in s.values if n.rpartition(" ")[2] == unit})
    most = max((s.values[n] for s in samples for n in names if n in s.values), default=1.0) or 1.0
    x, y = _WIDTH / end_s, _HEIGHT / most
    bars = "".join(
        f'<rect x="{_LEFT + span.began_s * x:.1f}" y="{top}" height="{_HEIGHT}"'
        f' width="{max((span.ended_s - span.began_s) * x, 1):.1f}" fill="#f2d7d5"/>'
        for span in spans
    )
    lines = "".join(
        _line(
            name,
            number,
            [(s.at_s * x, s.values[name] * y) for s in samples if name in s.values],
            top,
        )
        for number, name in enumerate(names)
    )
    return (
        f'{bars}<text x="{_LEFT}" y="{top - 8}">{unit}, at most {most:.0f}; {end_s:.0f} s</text>'
        f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none"'
        f' stroke="#999"/>{lines}'
    )


def _line(name: str, number: int, points: Sequence[tuple[float, float]], top: float) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    path = " ".join(f"{_LEFT + x:.1f},{top + _HEIGHT - y:.1f}" for x, y in points)
    label = f'x="{_LEFT + _WIDTH + 8}" y="{top + 14 + 16 * number}" fill="{colour}"'
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f"<text {label}>{escape(name)}</text>"
    )
