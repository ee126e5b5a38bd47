"""The layout of an author's pack: when the author's newest posts became visible, in that order.

    head     4 bytes   complete from: no arrived post of this second or later is missing
             4 bytes   late from: no record of a post that became visible in this second or later is
    record  10 bytes   the post: second 4, sequence 2; when it became visible, after its second: 4
    record  10 bytes   after a repost only, the post that it shows: second 4, sequence 2, author 4

The highest bits of the sequence say what a record is. A post may have several records: the last
time counts. All seconds are those of post ids.
"""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from struct import Struct
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from posts.ids import EPOCH, PostId
from timelines.types import Entry, TimeRange

HEAD, RECORD = Struct(">II"), Struct(">IHI")
# In the field of the sequence, which is below 2,048.
IN_SECONDS, IS_SHOWN, SEQUENCE = 0x8000, 0x4000, 0x07FF
MOST_MS, MOST_S = 2**32 - 1, 2**32 - 1
_RECORD = np.dtype([("second", ">u4"), ("sequence", ">u2"), ("last", ">u4")])


class Arrival(NamedTuple):
    """An entry, and when it became visible, in ms since 1970. A small number means long ago."""

    entry: Entry
    visible_ms: int

    @property
    def packed(self) -> bytes:
        event, original = self.entry
        after_ms = max(0, self.visible_ms - event.posted_at_s * 1000)
        if after_ms <= MOST_MS:
            record = RECORD.pack(event.second, event.sequence, after_ms)
        else:  # rounded up: a post that became visible later is returned again, not lost
            after_s = min(-(-after_ms // 1000), MOST_S)
            record = RECORD.pack(event.second, event.sequence | IN_SECONDS, after_s)
        if event == original:
            return record
        second, author_id, sequence = original
        return record + RECORD.pack(second, sequence | IS_SHOWN, author_id)


VISIBLE_MS = attrgetter("visible_ms")


class Pack(NamedTuple):
    """One author's posts. `complete_from`, `late_from`: seconds, as in the head."""

    complete_from: int
    late_from: int
    records: bytes

    @property
    def packed(self) -> bytes:
        return HEAD.pack(self.complete_from, self.late_from) + self.records

    @classmethod
    def from_packed(cls, data: bytes) -> Self:
        """Raises ValueError, struct.error if this is no pack."""
        complete_from, late_from = HEAD.unpack_from(data)
        if (len(data) - HEAD.size) % RECORD.size:
            raise ValueError("not a pack")
        return cls(complete_from, late_from, data[HEAD.size :])

    @classmethod
    def of(cls, arrivals: Iterable[Arrival], complete_from: int, late_from: int) -> Self:
        ordered = sorted(arrivals, key=VISIBLE_MS)
        return cls(complete_from, late_from, b"".join([arrival.packed for arrival in ordered]))


class Arrivals:
    """The records of several authors, as columns. Cost: some microseconds for each author."""

    def __init__(self, packs: Mapping[int, Pack]) -> None:
        data = b"".join([pack.records for pack in packs.values()])
        self._rows = np.frombuffer(data, _RECORD)
        counts = [len(pack.records) // RECORD.size for pack in packs.values()]
        self._authors = np.repeat(np.fromiter(packs, np.int64, len(packs)), counts)
        self._sequences = self._rows["sequence"]
        self._heads = (self._sequences & IS_SHOWN) == 0
        self._seconds = self._rows["second"].astype(np.int64)

    def list_entries(
        self, time_range: TimeRange, complete_from: int, most: int, newest_first: bool
    ) -> list[Entry]:
        """The first `most` different entries inside the range, and not before `complete_from`."""
        above, below = time_range
        lowest = max(above.second, complete_from)
        places = (
            self._heads & (self._seconds >= lowest) & (self._seconds <= below.second)
        ).nonzero()[0]
        # By second, then author, then sequence.
        order = np.lexsort(
            (self._sequences[places] & SEQUENCE, self._authors[places], self._seconds[places])
        )
        ordered = places[order[::-1] if newest_first else order].tolist()
        entries: dict[Entry, None] = {}
        for place in ordered:
            entry = self._entry(place)
            if above < entry.event < below:
                entries[entry] = None
                if len(entries) == most:
                    break
        return list(entries)

    def list_late(self, cursor: PostId, floor_ms: int) -> list[Arrival]:
        """Entries below the cursor whose last time is above the floor, each once, with that."""
        is_late = self._heads & (self._seconds <= cursor.second) & (self._visible() > floor_ms)
        times: dict[Entry, int] = {}
        for place in is_late.nonzero()[0].tolist():
            entry = self._entry(place)
            if entry.event < cursor:
                times[entry] = max(times.get(entry, 0), int(self._visible_at(place)))
        return [Arrival(entry, visible_ms) for entry, visible_ms in times.items()]

    def list_events(self) -> set[PostId]:
        return {self._event(place) for place in self._heads.nonzero()[0].tolist()}

    def _visible(self) -> npt.NDArray[np.int64]:
        after = self._rows["last"].astype(np.int64)
        after_ms = np.where(self._sequences & IN_SECONDS, after * 1000, after)
        visible: npt.NDArray[np.int64] = (self._seconds + EPOCH) * 1000 + after_ms
        return visible

    def _visible_at(self, place: int) -> int:
        second, sequence, after = self._rows[place].tolist()
        return (second + EPOCH) * 1000 + (after * 1000 if sequence & IN_SECONDS else after)

    def _event(self, place: int) -> PostId:
        sequence = int(self._sequences[place]) & SEQUENCE
        return PostId(int(self._seconds[place]), int(self._authors[place]), sequence)

    def _entry(self, place: int) -> Entry:
        event, after = self._event(place), place + 1
        if after == len(self._heads) or self._heads[after]:
            return Entry.of_post(event)
        second, sequence, author_id = self._rows[after].tolist()
        return Entry(event, PostId(second, author_id, sequence & SEQUENCE))
