"""The entries of a catch-up: the home timeline up to the bound, perhaps without reposts."""

from collections.abc import Sequence

from posts.ids import PostId
from timelines.catch_up.types import Exclusions
from timelines.home.feed import HomeFeed
from timelines.home.reader import HomeReader
from timelines.types import Entry


class CatchUpEntries(HomeFeed):
    """As HomeFeed, but entries above `until` do not exist, so that no post moves away.

    With reposts excluded, posts are at their own places.
    """

    def __init__(
        self, reader: HomeReader, now_ms: int, until: PostId, exclusions: Exclusions
    ) -> None:
        super().__init__(reader, now_ms)
        self._until, self._has_reposts = until, not exclusions.reposts
        self._sources: dict[PostId, list[Entry]] = {}

    def list_sources(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """As HomeFeed's. The shards are asked once for each post: a first page needs the
        sources for the order, and again for its statuses."""
        new = [entry for entry in entries if entry.original not in self._sources]
        for source in super().list_sources(new) if new else ():
            if self.has(source):
                self._sources.setdefault(source.original, []).append(source)
        posts = dict.fromkeys(entry.original for entry in entries)
        return [source for post in posts for source in self._sources.get(post, ())]

    def has(self, entry: Entry) -> bool:
        is_post = entry.event is entry.original or entry.event == entry.original
        return entry.event <= self._until and (is_post or self._has_reposts)
