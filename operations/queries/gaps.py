"""The periods of the charts without samples, in words. A gap is not a zero."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from operations.samples import SLOT_S

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
