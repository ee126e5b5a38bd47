"""What a feed is, for one request: a source of entries in page order, and how they are shown.

source → order               `iter_older`, `iter_newer`
load → may I see it → JSON   `show`
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from posts.ids import PostId
from timelines.types import Entry, TimeRange

T = TypeVar("T")
LEAST_REFILL = 6


class Feed(ABC):
    """The entries of one feed for one viewer and one request, visible or not."""

    @abstractmethod
    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, newest first."""

    @abstractmethod
    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, oldest first."""

    @abstractmethod
    def show(self, entries: Sequence[Entry]) -> list[bytes]:
        """Status entities of those that the viewer may see here, in the order of the entries."""

    def list_arrived(self, entries: Iterable[Entry]) -> Iterable[Entry]:
        """Those of the entries that an ordinary page has, too."""
        return entries

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        """The first `count` that the viewer may see, newest first. Cost: as `collect`."""
        return collect(self.show, self.iter_older(time_range), count)

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        """The same, oldest first."""
        return collect(self.show, self.iter_newer(time_range), count)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        """Of these entries, in their order, the first `count` that are there and visible."""
        return collect(self.show, iter(self.list_arrived(entries)), count)


def collect(
    make: Callable[[Sequence[Entry]], list[T]],
    entries: Iterator[Entry],
    count: int,
    at_once: int = 0,
) -> list[T]:
    """The first `count` results of `make`, which leaves out entries that are not shown.

    Cost: as `make`, once more for each refill. A refill expects that as many are left out as
    before, so that there is mostly one. Each is twice as long as the one before it: many entries in
    a row may be left out. `at_once`: no call gets fewer, if there are so many.
    """
    made: list[T] = []
    most = max(count, at_once)
    asked, least = 0, at_once
    while len(made) < count:
        missing = count - len(made)
        expected = missing * asked // max(len(made), 1) if asked else missing
        batch = _next_posts(entries, min(max(missing, expected, least), most))
        if not batch:
            break
        least = max(LEAST_REFILL, 2 * least)
        asked += len(batch)
        made += make(batch)
    return made[:count]


def _next_posts(entries: Iterator[Entry], most: int) -> list[Entry]:
    """The next entries, until they show `most` posts. A page shows each post once, so fewer would
    not fill it."""
    batch, posts = [], set[PostId]()
    for entry in entries:
        batch.append(entry)
        posts.add(entry[1])
        if len(posts) == most:
            break
    return batch
