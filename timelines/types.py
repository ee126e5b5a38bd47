"""Values of timelines. An entry has ids and an order, never a body."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import NamedTuple, Self

import numpy as np

from posts.ids import FIRST, LAST, MAX_SECOND, PACKED_BYTES, SEQUENCES, PostId

PACKED_ENTRY = Struct(">IIHIIH")
ENTRY_BYTES = PACKED_ENTRY.size
SECOND = Struct(">I")  # the first field of a packed entry
TAIL = 64
# Many readers have the same entries: a lookup in a dict is cheaper than unpacking an entry again.
CACHED_ENTRIES = 16_384
# Of a tuple of fields. A NamedTuple's own way calls a function of Python.
_new = tuple.__new__
# For comparing packed entries. An entry is two ids, or five words of which the first is the second.
_ID, _WORD, _WORDS = np.dtype(f"S{PACKED_BYTES}"), np.dtype(">u4"), ENTRY_BYTES // 4
_ENTRY = np.dtype(f"V{ENTRY_BYTES}")
_FIELDS = np.dtype([("second", ">u4"), ("author", ">u4"), ("sequence", ">u2")])
_SEQUENCE_AT = 8
# With these first bytes, a second or a sequence is certainly below its limit.
_GOOD_SECONDS, _GOOD_SEQUENCES = bytes(range(MAX_SECOND >> 24)), bytes(range(SEQUENCES >> 8))


class Entry(NamedTuple):
    """A place in a timeline (`event`) and the post that is shown there (`original`).

    For a post that is no repost both are the same. Entries compare in page order, also packed.
    """

    event: PostId
    original: PostId

    @property
    def packed(self) -> bytes:
        """20 bytes: the event's 10, then the original's 10 (layout: posts/ids.py)."""
        return PACKED_ENTRY.pack(*self.event, *self.original)

    @classmethod
    @lru_cache(CACHED_ENTRIES)
    def from_packed(cls, data: bytes) -> Self:
        numbers = PACKED_ENTRY.unpack(data)
        event = original = _new(PostId, numbers[:3])
        if numbers[3:] != event:
            original = _new(PostId, numbers[3:])
        return _new(cls, (event, original))

    @classmethod
    def split(cls, data: bytes) -> list[Self]:
        """The entries of concatenated packed entries."""
        return list(map(cls.from_packed, _split(data)))

    @classmethod
    def of_post(cls, post_id: PostId) -> Self:
        return cls(post_id, post_id)


class Place(NamedTuple):
    """One post at its place in a timeline.

    `visible`: the entries that show the post, those that the viewer may see, newest first.
    `fragment`: of the post.
    """

    visible: Sequence[Entry]
    fragment: bytes

    @property
    def entry(self) -> Entry:
        return self.visible[0]

    @property
    def event(self) -> PostId:
        return self.visible[0].event


# A NamedTuple's field is found in half the time by its index.
ORIGINAL = itemgetter(1)


class TimeRange(NamedTuple):
    """Part of a timeline: the entries strictly between `above` and `below`."""

    above: PostId = FIRST
    below: PostId = LAST

    def after(self, event: PostId, newest_first: bool) -> "TimeRange":
        """What is left when the entries up to this event have been read."""
        return TimeRange(self.above, event) if newest_first else TimeRange(event, self.below)


class TimelineAuthors(NamedTuple):
    """The authors of a reader's timeline: the followees, and with `has_own` the reader."""

    reader_id: int
    followee_ids: Sequence[int]
    has_own: bool = True

    @property
    def author_ids(self) -> list[int]:
        return [self.reader_id, *self.followee_ids] if self.has_own else [*self.followee_ids]


def reposts_among(entries: Collection[Entry]) -> list[Entry]:
    """The entries that are reposts. Other entries mostly have one object for both ids, so an
    identity test sorts most of them out."""
    return [e for e in entries if e.event is not e.original and e.event != e.original]


class LiveTimeline(NamedTuple):
    """A stored home timeline.

    `data`: packed entries in order of arrival. Entries may repeat, and may be below the low-water
    mark.
    `complete_from`: the low-water mark. No entry of this second or later is missing.
    `following_version`: version of the reader's following list that the timeline reflects.
    """

    data: bytes
    complete_from: int
    following_version: int

    @classmethod
    def of(cls, packed: Iterable[bytes], complete_from: int, following_version: int) -> Self:
        return cls(b"".join(packed), complete_from, following_version)

    @property
    def packed(self) -> list[bytes]:
        """Entries at or above the low-water mark, oldest first. They may repeat."""
        return self._from(0, self.complete_from)

    @property
    def newest_packed(self) -> list[bytes]:
        """The last entries of `packed`, without a gap, at most TAIL: enough for most first pages.

        Entries arrive nearly in order. So the last ones to arrive that are newer than all earlier
        ones are the newest.
        """
        cut = max(0, len(self.data) - TAIL * ENTRY_BYTES)
        return self._from(cut, max(self.complete_from, _newest_second(self.data[:cut]) + 1))

    def reposts(self) -> dict[PostId, list[Entry]]:
        """Reposts at or above the low-water mark, by the post that they show. They may repeat."""
        ids = np.frombuffer(self.data, _ID)
        groups: dict[PostId, list[Entry]] = {}
        for index in (ids[::2] != ids[1::2]).nonzero()[0].tolist():
            start = index * ENTRY_BYTES
            entry = Entry.from_packed(self.data[start : start + ENTRY_BYTES])
            if entry.event.second >= self.complete_from:
                groups.setdefault(entry.original, []).append(entry)
        return groups

    def _from(self, offset: int, second: int) -> list[bytes]:
        packed = sorted(_split(self.data[offset:]))
        return packed[bisect_left(packed, SECOND.pack(second)) :]


def check_entries(data: bytes) -> bytes:
    """The same bytes. Raises: ValueError if they are not packed entries. Cost: about 2 us."""
    if len(data) % ENTRY_BYTES or not (_have_good_bytes(data) or _are_below_limits(data)):
        raise ValueError("not packed entries")
    return data


def _have_good_bytes(data: bytes) -> bool:
    """Whether the first bytes of the numbers say that they are below their limits, as mostly."""
    seconds, sequences = data[::PACKED_BYTES], data[_SEQUENCE_AT::PACKED_BYTES]
    return not (
        seconds.translate(None, _GOOD_SECONDS) or sequences.translate(None, _GOOD_SEQUENCES)
    )


def _are_below_limits(data: bytes) -> bool:
    ids = np.frombuffer(data, _FIELDS)
    return bool((ids["second"] <= MAX_SECOND).all() and (ids["sequence"] < SEQUENCES).all())


def _split(data: bytes) -> list[bytes]:
    """Packed entries in their order. numpy is several times faster here than slices are."""
    entries: list[bytes] = np.frombuffer(data, _ENTRY).tolist()
    return entries


def _newest_second(data: bytes) -> int:
    """The highest second of the events; -1 without events."""
    seconds = np.frombuffer(data, _WORD)[::_WORDS]
    # numpy's max() is slower: it is written in Python.
    return int(seconds[seconds.argmax()]) if len(seconds) else -1


assert ENTRY_BYTES == 2 * PACKED_BYTES  # noqa: S101 - the store's scripts rely on this size
