"""A reader's live timeline, merged with the entries of the reader's hot followees."""

from bisect import bisect_left
from collections.abc import Sequence

from timelines.hot.entries import HotEntries
from timelines.types import SECOND, Entry, LiveTimeline


class MergedTimeline:
    """Entries in page order. `complete_from`: no entry of this second or later is missing."""

    def __init__(self, live: LiveTimeline, hot_entries: Sequence[HotEntries]) -> None:
        self._live, self._hot_entries = live, hot_entries
        self.complete_from = max([live.complete_from, *(hot.complete_from for hot in hot_entries)])

    @property
    def packed(self) -> list[bytes]:
        """Packed entries at or above the low-water mark, oldest first. They may repeat."""
        return self._merge(self._live.packed, SECOND.pack(self.complete_from))

    @property
    def newest_packed(self) -> list[bytes]:
        """The last entries of `packed`, without a gap. Cheaper than `packed`, for first pages."""
        newest = self._live.newest_packed
        if not newest:
            return newest
        return self._merge(newest, max(newest[0], SECOND.pack(self.complete_from)))

    def list_reposts(self, entries: Sequence[Entry]) -> list[Entry]:
        """All reposts at or above the low-water mark that show the same posts as these entries."""
        reposts = [self._live.reposts(), *(hot.reposts for hot in self._hot_entries)]
        others = (
            by for some in reposts if some for e in entries for by in some.get(e.original, ())
        )
        return [by for by in others if by.event.second >= self.complete_from]

    def _merge(self, packed: list[bytes], floor: bytes) -> list[bytes]:
        if not self._hot_entries:
            return packed
        merged = packed[bisect_left(packed, floor) :]
        for hot in self._hot_entries:
            merged += hot.entries[bisect_left(hot.entries, floor) :]
        return sorted(merged)
