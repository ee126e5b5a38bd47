"""Turns samples into the lines of the charts. Only `read_charts` reads a store.

The periods of the charts without samples, in words. A gap is not a zero.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import TypeVar

import msgspec

from operations.samples import (
    SLOT_COUNT,
    SLOT_S,
    DatabaseSample,
    FleetSample,
    read_samples,
    slot_of,
)

# First and last place in the slots.
Gap = tuple[int, int]
# By source, a database or Redis: the slots that have a sample.
Known = Mapping[str, AbstractSet[int]]
# The newest samples may still be on their way: they are due twice in a slot.
DUE_SLOTS = 2
MOST_NOTES = 4


def describe(slots: Sequence[int], known: Known) -> list[str]:
    """One sentence for each period without samples of some sources, the newest first.

    At most MOST_NOTES, and one about the others. Empty: there is no such period.
    """
    sources: defaultdict[Gap, list[str]] = defaultdict(list)
    for source, known_slots in known.items():
        for gap in find_gaps(slots, known_slots):
            sources[gap].append(source)
    gaps = sorted(sources, key=lambda gap: (-gap[1], gap[0]))
    notes = [_sentence(slots, gap, sources[gap], len(known)) for gap in gaps[:MOST_NOTES]]
    more = len(gaps) - MOST_NOTES
    return [*notes, f"And {more} earlier gap{'s' * (more > 1)}."] if more > 0 else notes


def find_common(slots: Sequence[int], known: Known) -> list[Gap]:
    """The periods in which no source has samples."""
    return [*find_gaps(slots, set().union(*known.values()))]


def find_gaps(slots: Sequence[int], known_slots: AbstractSet[int]) -> Iterator[Gap]:
    """The periods without samples, oldest first. Samples that are not due yet are not missing."""
    begin = None
    for place, slot in enumerate(slots):
        is_missing = slot not in known_slots
        if is_missing and begin is None:
            begin = place
        if not is_missing and begin is not None:
            yield begin, place - 1
            begin = None
    if begin is not None and len(slots) - begin > DUE_SLOTS:
        yield begin, len(slots) - 1


def _sentence(slots: Sequence[int], gap: Gap, sources: Sequence[str], count: int) -> str:
    is_of_all, is_whole = len(sources) == count, gap == (0, len(slots) - 1)
    whose = "" if is_of_all else f" of {', '.join(sources)}"
    why = ": no compensator ran, or Redis was away" if is_of_all and is_whole else ""
    return f"No samples{whose} {_when(slots, gap)}{why}."


def _when(slots: Sequence[int], gap: Gap) -> str:
    """The end is the time of the next sample."""
    begin, end = gap
    if (begin, end) == (0, len(slots) - 1):
        return "in this hour"
    if end == len(slots) - 1:
        return f"since {_clock(slots[begin])} UTC"
    if begin == 0:
        return f"before {_clock(slots[end] + 1)} UTC"
    return f"from {_clock(slots[begin])} to {_clock(slots[end] + 1)} UTC"


def _clock(slot: int) -> str:
    return f"{datetime.fromtimestamp(slot * SLOT_S, UTC):%H:%M:%S}"


MEBI = 2**20
S = TypeVar("S")
Values = list[float | None]
Lines = dict[str, Values]
Databases = Mapping[str, Mapping[int, DatabaseSample]]


class Chart(msgspec.Struct):
    """`lines`: values by name, one per time; null where there is no sample.

    `notes`: in words, the times without samples. `gaps`: the first and last place in `times` of
    each period in which nothing has samples.
    """

    name: str
    title: str
    unit: str
    lines: Lines
    notes: list[str] = []
    gaps: list[Gap] = []


class Charts(msgspec.Struct):
    """`times`: Unix seconds of the last hour, SLOT_S apart."""

    times: list[int]
    charts: list[Chart]


def read_charts(now_s: float) -> Charts:
    """The last hour. Raises: RedisError. Cost: one round trip, KEPT entries a database."""
    since_s = now_s - SLOT_COUNT * SLOT_S
    return draw(slot_of(now_s), *read_samples(since_s))


def draw(last: int, databases: Databases, fleet: Mapping[int, FleetSample]) -> Charts:
    """All charts of the slots up to `last`."""
    slots = range(last - SLOT_COUNT + 1, last + 1)
    line = partial(_line, slots)
    sampled = {alias: set(samples) for alias, samples in databases.items()}
    reported = {alias: _reported(samples) for alias, samples in databases.items()}
    of_fleet = {"Redis": set(fleet)}

    def of_each(value: Callable[[DatabaseSample], float | None]) -> Lines:
        return {alias: line(samples, value) for alias, samples in databases.items()}

    delivered = {alias: _rates(slots, samples) for alias, samples in databases.items()}
    lags, parked = _fold(_lags(slots, databases)), _fold(of_each(lambda report: report.parked))
    slow = _fold(of_each(lambda report: report.slow))

    def chart(name: str, title: str, unit: str, lines: Lines, known: Known) -> Chart:
        return Chart(name, title, unit, lines, describe(slots, known), find_common(slots, known))

    charts = [
        chart("lag", "Change lag: the oldest pending change", "s", lags, reported),
        chart("deliveries", "Changes delivered", "/s", _fold(delivered), sampled),
        chart("hits", "Cache hits by tier", "%", _hit_ratios(slots, fleet), of_fleet),
        chart("memory", "Redis memory", "MiB", _memory(slots, fleet), of_fleet),
        chart("slow", "Queries longer than a second", "", slow, sampled),
        chart("parked", "Parked changes", "", parked, reported),
    ]
    return Charts([slot * SLOT_S for slot in slots], charts)


def _line(
    slots: Iterable[int], samples: Mapping[int, S], value: Callable[[S], float | None]
) -> Values:
    in_slots = (samples.get(slot) for slot in slots)
    return [None if sample is None else value(sample) for sample in in_slots]


def _reported(samples: Mapping[int, DatabaseSample]) -> set[int]:
    """The slots whose sample has a report of the pending changes."""
    return {slot for slot, sample in samples.items() if sample.oldest_s is not None}


def _lags(slots: Sequence[int], databases: Databases) -> Lines:
    """One line per database and lane."""
    lines: Lines = {}
    for alias, samples in databases.items():
        lanes = sorted({lane for sample in samples.values() for lane in sample.oldest_s or ()})
        for lane in lanes:
            age = partial(_age, lane)
            lines[f"{alias} lane {lane}"] = _line(slots, samples, age)
    return lines


def _age(lane: int, sample: DatabaseSample) -> float | None:
    """0 if the report lacks the lane, because then nothing is pending there."""
    return None if sample.oldest_s is None else sample.oldest_s.get(lane, 0.0)


def _hit_ratios(slots: Sequence[int], fleet: Mapping[int, FleetSample]) -> Lines:
    """Hits between two samples in percent of the reads; null without reads."""
    tiers = sorted({tier for sample in fleet.values() for tier in sample.reads})
    lines: Lines = {}
    for tier in tiers:
        hits = step_values(_line(slots, fleet, partial(_reads, tier, 0)))
        misses = step_values(_line(slots, fleet, partial(_reads, tier, 1)))
        lines[tier] = [_percent(hit, miss) for hit, miss in zip(hits, misses, strict=True)]
    return lines


def _reads(tier: str, which: int, sample: FleetSample) -> float:
    return sample.reads.get(tier, (0, 0))[which]


def _percent(hits: float | None, misses: float | None) -> float | None:
    if hits is None or misses is None or not hits + misses:
        return None
    return round(100 * hits / (hits + misses), 2)


def _memory(slots: Sequence[int], fleet: Mapping[int, FleetSample]) -> Lines:
    used = _line(slots, fleet, lambda sample: round(sample.memory_bytes / MEBI, 1))
    most = _line(slots, fleet, lambda sample: round(sample.most_bytes / MEBI, 1) or None)
    lines = {"used": used, "limit": most}
    return {name: values for name, values in lines.items() if any(v is not None for v in values)}


def _rates(slots: Iterable[int], samples: Mapping[int, DatabaseSample]) -> Values:
    """Deliveries a second since the previous slot."""
    pairs = pairwise(samples.get(slot) for slot in slots)
    return [None, *(_rate(before, after) for before, after in pairs)]


def _rate(before: DatabaseSample | None, after: DatabaseSample | None) -> float | None:
    """None after a gap, and where the count started again."""
    if before is None or after is None or after.delivered < before.delivered:
        return None
    passed_s = after.at_s - before.at_s
    return round((after.delivered - before.delivered) / passed_s, 2) if passed_s > 0 else None


def step_values(totals: Values) -> Values:
    """Differences between samples; null after a gap, and where a count started again."""
    steps: Values = [None]
    for before, after in pairwise(totals):
        is_step = before is not None and after is not None and after >= before
        steps.append(after - before if is_step else None)  # type: ignore[operator]
    return steps


def _fold(lines: Lines) -> Lines:
    """Replaces the lines that were always 0 by one line, so that the other lines are easy to see.

    Where one of them has no sample, this line has a gap: an unknown value is not a zero. Drops
    lines without values.
    """
    flat = {name: values for name, values in lines.items() if not any(values)}
    quiet = [values for values in flat.values() if any(value is not None for value in values)]
    shown = {name: values for name, values in lines.items() if name not in flat}
    if quiet:
        known = zip(*quiet, strict=True)
        shown[_name_of_rest(len(quiet), bool(shown))] = [
            None if any(value is None for value in values) else 0.0 for values in known
        ]
    return shown


def _name_of_rest(count: int, has_others: bool) -> str:
    if has_others:
        return f"{count} other{'s' * (count > 1)}"
    return f"all {count}" if count > 1 else "all"
