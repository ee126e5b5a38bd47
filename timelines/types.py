"""Values of timelines: entries are ids and order, never bodies."""

from bisect import bisect_left
from collections.abc import Collection, Iterable
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import NamedTuple, Self

import numpy as np

from posts.ids import PACKED_BYTES, PostId

PACKED_ENTRY = Struct(">IIHIIH")
ENTRY_BYTES = PACKED_ENTRY.size
SECOND = Struct(">I")  # what an entry begins with
TAIL = 64
# Many readers have the same entries: a look in a dict costs a tenth of taking one apart.
CACHED_ENTRIES = 16_384
# For comparing without taking apart. An entry is two ids; a second is the first of its five words.
_ID, _WORD, _WORDS = np.dtype(f"S{PACKED_BYTES}"), np.dtype(">u4"), ENTRY_BYTES // 4
_ENTRY = np.dtype(f"V{ENTRY_BYTES}")


class Entry(NamedTuple):
    """What happened (`event`: its place in the timeline) and what is shown (`original`).

    For a post of one's own both are the same. Compares in page order, packed or not.
    """

    event: PostId
    original: PostId

    @property
    def packed(self) -> bytes:
        """20 bytes: the event's 10, the original's 10, as in posts/ids.py."""
        return PACKED_ENTRY.pack(*self.event, *self.original)

    @classmethod
    @lru_cache(CACHED_ENTRIES)
    def from_packed(cls, data: bytes) -> Self:
        numbers = PACKED_ENTRY.unpack(data)
        event = PostId(*numbers[:3])
        return cls(event, event if numbers[:3] == numbers[3:] else PostId(*numbers[3:]))

    @classmethod
    def cut(cls, data: bytes) -> list[Self]:
        """The entries of a packed run."""
        return list(map(cls.from_packed, _cut(data)))

    @classmethod
    def of_post(cls, post_id: PostId) -> Self:
        return cls(post_id, post_id)


# Of NamedTuples an index is found in half the time of a name.
EVENT, ORIGINAL = itemgetter(0), itemgetter(1)


def reposts_among(entries: Collection[Entry]) -> list[Entry]:
    """Those that show another post than their own. Of the others nearly all have one object for
    both, and are told by that."""
    return [e for e in entries if e.event is not e.original and e.event != e.original]


class LiveTimeline(NamedTuple):
    """A stored home timeline.

    `data`: packed entries in order of arrival; may repeat, and reach below the mark.
    `complete_from`: every entry of this second or later is here; older ones may be missing.
    `following_version`: the reader's following list that it reflects.
    """

    data: bytes
    complete_from: int
    following_version: int

    @classmethod
    def of(cls, packed: Iterable[bytes], complete_from: int, following_version: int) -> Self:
        return cls(b"".join(packed), complete_from, following_version)

    @property
    def packed(self) -> list[bytes]:
        """Entries at or above the mark, oldest first; may repeat. 35 µs for 450."""
        return self._from(0, self.complete_from)

    @property
    def newest_packed(self) -> list[bytes]:
        """The last of `packed`, at most TAIL, none left out among them; 8 µs: for first pages.

        Entries arrive nearly in order: those that came last and are newer than all that came
        before are the newest.
        """
        cut = max(0, len(self.data) - TAIL * ENTRY_BYTES)
        return self._from(cut, max(self.complete_from, _newest_second(self.data[:cut]) + 1))

    def reposts(self) -> dict[PostId, list[Entry]]:
        """Entries at or above the mark that show another post than their own, by that post; each
        may repeat. 7 µs for 450, and 0.5 µs for each that is found."""
        ids = np.frombuffer(self.data, _ID)
        found: dict[PostId, list[Entry]] = {}
        for index in (ids[::2] != ids[1::2]).nonzero()[0].tolist():
            start = index * ENTRY_BYTES
            entry = Entry.from_packed(self.data[start : start + ENTRY_BYTES])
            if entry.event.second >= self.complete_from:
                found.setdefault(entry.original, []).append(entry)
        return found

    def _from(self, offset: int, second: int) -> list[bytes]:
        packed = sorted(_cut(self.data[offset:]))
        return packed[bisect_left(packed, SECOND.pack(second)) :]


def _cut(data: bytes) -> list[bytes]:
    """The packed entries of a run, in its order: a quarter of what a regular expression takes."""
    entries: list[bytes] = np.frombuffer(data, _ENTRY).tolist()
    return entries


def _newest_second(data: bytes) -> int:
    """The highest second of the events; -1 of none."""
    seconds = np.frombuffer(data, _WORD)[::_WORDS]
    # Not max(): that one is written in Python.
    return int(seconds[seconds.argmax()]) if len(seconds) else -1


assert ENTRY_BYTES == 2 * PACKED_BYTES  # noqa: S101 - the store's scripts count in these
