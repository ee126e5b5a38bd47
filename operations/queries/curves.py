"""Small curves of the last hour for the admin's first page, out of the compensators' samples.

A curve is the path of an SVG that the server draws: no script. A gap is a time without samples.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from infra.changes.lanes import LaneGroup, group_of
from operations.queries.charts import Values, step_values
from operations.samples import SLOT_COUNT, SLOT_S, DatabaseSample, FleetSample, slot_of
from operations.types import Curve

WIDTH, HEIGHT = 120, 24
SLOTS_A_POINT = 6
S = TypeVar("S")
Fleet = Mapping[int, FleetSample]
Databases = Mapping[str, Mapping[int, DatabaseSample]]


def draw_curve(values: Sequence[float | None], unit: str) -> Curve | None:
    """The highest value of each minute since the first, from 0 up. None without two values."""
    starts = range(0, len(values), SLOTS_A_POINT)
    points = [_highest(values[at : at + SLOTS_A_POINT]) for at in starts]
    known = [point for point in points if point is not None]
    if len(known) < 2:
        return None
    points = points[points.index(known[0]) :]
    top, wide = max(known) or 1, WIDTH / (len(points) - 1)
    path = "".join(_mark(points, place, wide, top) for place in range(len(points)))
    minutes = len(points) * SLOTS_A_POINT * SLOT_S // 60
    return Curve(path, f"In {minutes} minutes {min(known):,.3g} to {max(known):,.3g}{unit}.")


def request_curves(fleet: Fleet, now_s: float) -> tuple[Curve | None, Curve | None]:
    """Of requests a second, and of the percentage that failed."""
    totals = [(sample.requests if sample else None) for sample in _hour(fleet, now_s)]
    answers = step_values([float(total.answers) if total else None for total in totals])
    failures = step_values([float(total.failures) if total else None for total in totals])
    rates = [None if count is None else count / SLOT_S for count in answers]
    shares = [
        None if count is None or failed is None or not count else 100 * failed / count
        for count, failed in zip(answers, failures, strict=True)
    ]
    return draw_curve(rates, " a second"), draw_curve(shares, " %")


def change_curves(databases: Databases, now_s: float) -> tuple[Curve | None, Curve | None]:
    """Of the age of the oldest pending ordinary change, and of the parked changes."""
    hours = [_hour(samples, now_s) for samples in databases.values()]
    slots = [[sample for sample in slot if sample] for slot in zip(*hours, strict=True)]
    delays = [_highest(map(_delay, slot)) for slot in slots]
    parked = [_sum(sample.parked for sample in slot) for slot in slots]
    return draw_curve(delays, " s"), draw_curve(parked, "")


def memory_curve(fleet: Fleet, now_s: float) -> Curve | None:
    """Of the percentage of Redis' memory that is used; None without a limit."""
    return draw_curve([memory_percent(sample) for sample in _hour(fleet, now_s)], " %")


def memory_percent(sample: FleetSample | None) -> float | None:
    if sample is None or not sample.most_bytes:
        return None
    return 100 * sample.memory_bytes / sample.most_bytes


def _hour(samples: Mapping[int, S], now_s: float) -> list[S | None]:
    last = slot_of(now_s)
    return [samples.get(slot) for slot in range(last - SLOT_COUNT + 1, last + 1)]


def _delay(sample: DatabaseSample) -> float | None:
    if sample.oldest_s is None:
        return None
    ordinary = (
        age for lane, age in sample.oldest_s.items() if group_of(lane) is LaneGroup.ORDINARY
    )
    return max(ordinary, default=0.0)


def _highest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _sum(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(sum(known)) if known else None


def _mark(points: Values, place: int, wide: float, top: float) -> str:
    point = points[place]
    if point is None:
        return ""
    is_first = place == 0 or points[place - 1] is None
    down = HEIGHT - 1 - (HEIGHT - 2) * point / top
    return f"{'M' if is_first else 'L'}{place * wide:.1f} {down:.1f}"
