"""Small curves for the admin's first page, of the last hour or the last day.

A curve is the path of an SVG that the server draws: no script. A gap is a time without samples; a
value between two gaps is a dot.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from infra.changes.lanes import LaneGroup, group_of
from operations.queries.charts import Values, step_values
from operations.samples import SLOT_COUNT, SLOT_S, DatabaseSample, FleetSample, slot_of
from operations.types import Curve

WIDTH, HEIGHT = 120, 24
SLOTS_A_POINT = 6
S = TypeVar("S")
Fleet = Mapping[int, FleetSample]
Databases = Mapping[str, Mapping[int, DatabaseSample]]


class Series(NamedTuple):
    """Values in the order of time: requests a second, the percentage that failed, the age of the
    oldest pending ordinary change, parked changes, and the used percentage of Redis' memory.
    """

    rate: Values
    failed: Values
    delay: Values
    parked: Values
    memory: Values


class Curves(NamedTuple):
    """As Series; each None without two values."""

    rate: Curve | None = None
    failed: Curve | None = None
    delay: Curve | None = None
    parked: Curve | None = None
    memory: Curve | None = None


UNITS = (" a second", " %", " s", "", " %")


def series_of(databases: Databases, fleet: Fleet, end_s: float, count: int) -> Series:
    """Of as many slots, up to that of `end_s`."""
    shares = _requests([*_slots(fleet, end_s, count)])
    return Series(*shares, *_changes(databases, end_s, count), _memory(fleet, end_s, count))


def hour_curves(databases: Databases, fleet: Fleet, now_s: float) -> Curves:
    """A point is the highest value of a minute."""
    series = series_of(databases, fleet, now_s, SLOT_COUNT)
    minutes = Series(*(_by_minute(values) for values in series))
    return draw_curves(minutes, SLOTS_A_POINT * SLOT_S)


def draw_curves(series: Series, point_s: int) -> Curves:
    pairs = zip(series, UNITS, strict=True)
    return Curves(*(draw_curve(values, unit, point_s) for values, unit in pairs))


def draw_curve(points: Sequence[float | None], unit: str, point_s: int) -> Curve | None:
    """The values since the first, from 0 up. None without two values."""
    known = [point for point in points if point is not None]
    if len(known) < 2:
        return None
    points = points[points.index(known[0]) :]
    top, wide = max(known) or 1, WIDTH / (len(points) - 1)
    path = "".join(_mark(points, place, wide, top) for place in range(len(points)))
    lowest, top_words = f"{min(known):,.3g}", f"{max(known):,.3g}"
    words = f"In {_span(len(points) * point_s)} {lowest} to {top_words}{unit}."
    return Curve(path, top_words, words)


def memory_percent(sample: FleetSample | None) -> float | None:
    if sample is None or not sample.most_bytes:
        return None
    return 100 * sample.memory_bytes / sample.most_bytes


def highest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _requests(samples: Sequence[FleetSample | None]) -> tuple[Values, Values]:
    totals = [(sample.requests if sample else None) for sample in samples]
    answers = step_values([float(total.answers) if total else None for total in totals])
    failures = step_values([float(total.failures) if total else None for total in totals])
    rates = [None if count is None else count / SLOT_S for count in answers]
    shares = [
        None if count is None or failed is None or not count else 100 * failed / count
        for count, failed in zip(answers, failures, strict=True)
    ]
    return rates, shares


def _changes(databases: Databases, end_s: float, count: int) -> tuple[Values, Values]:
    columns = [_slots(samples, end_s, count) for samples in databases.values()]
    slots = [[sample for sample in slot if sample] for slot in zip(*columns, strict=True)]
    delays = [highest(map(_delay, slot)) for slot in slots]
    return delays, [_sum(sample.parked for sample in slot) for slot in slots]


def _memory(fleet: Fleet, end_s: float, count: int) -> Values:
    return [memory_percent(sample) for sample in _slots(fleet, end_s, count)]


def _slots(samples: Mapping[int, S], end_s: float, count: int) -> list[S | None]:
    last = slot_of(end_s)
    return [samples.get(slot) for slot in range(last - count + 1, last + 1)]


def _by_minute(values: Values) -> Values:
    starts = range(0, len(values), SLOTS_A_POINT)
    return [highest(values[at : at + SLOTS_A_POINT]) for at in starts]


def _delay(sample: DatabaseSample) -> float | None:
    if sample.oldest_s is None:
        return None
    ordinary = (
        age for lane, age in sample.oldest_s.items() if group_of(lane) is LaneGroup.ORDINARY
    )
    return max(ordinary, default=0.0)


def _sum(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(sum(known)) if known else None


def _span(seconds: int) -> str:
    minutes = seconds // 60
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"


def _mark(points: Sequence[float | None], place: int, wide: float, top: float) -> str:
    point = points[place]
    if point is None:
        return ""
    is_first = place == 0 or points[place - 1] is None
    is_last = place == len(points) - 1 or points[place + 1] is None
    down = HEIGHT - 1 - (HEIGHT - 2) * point / top
    dot = "h.01" if is_first and is_last else ""
    return f"{'M' if is_first else 'L'}{place * wide:.1f} {down:.1f}{dot}"
