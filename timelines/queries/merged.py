"""What is at hand of a home: the reader's live timeline, and the entries of hot followees."""

from bisect import bisect_left
from collections.abc import Sequence

from timelines.hot.entries import HotEntries
from timelines.types import SECOND, Entry, LiveTimeline


class MergedTimeline:
    """Entries in page order. `complete_from`: all of this second or later are here."""

    def __init__(self, live: LiveTimeline, hot_entries: Sequence[HotEntries]) -> None:
        self._live, self._outboxes = live, hot_entries
        self.complete_from = max([live.complete_from, *(box.complete_from for box in hot_entries)])

    @property
    def packed(self) -> list[bytes]:
        """Packed entries at or above the mark, oldest first; may repeat."""
        return self._with_outboxes(self._live.packed, SECOND.pack(self.complete_from))

    @property
    def newest_packed(self) -> list[bytes]:
        """The last of `packed`, none left out among them; cheaper, for first pages."""
        newest = self._live.newest_packed
        if not newest:
            return newest
        return self._with_outboxes(newest, max(newest[0], SECOND.pack(self.complete_from)))

    def sources_of(self, entries: Sequence[Entry]) -> list[Entry]:
        """Every repost at or above the mark that shows what these show."""
        reposts = [self._live.reposts(), *(box.reposts for box in self._outboxes)]
        found = (by for some in reposts if some for e in entries for by in some.get(e.original, ()))
        return [by for by in found if by.event.second >= self.complete_from]

    def _with_outboxes(self, packed: list[bytes], floor: bytes) -> list[bytes]:
        if not self._outboxes:
            return packed
        merged = packed[bisect_left(packed, floor) :]
        for box in self._outboxes:
            merged += box.entries[bisect_left(box.entries, floor) :]
        return sorted(merged)
