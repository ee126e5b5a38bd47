"""Hot authors' newest entries: in Redis like timelines, and for a second in process memory.

    timelines.hot_entries:v1:{author}   like a home timeline (stores/packed.py), with version 0

The drain pushes a hot author's posts here instead of to the followers. Missing entries are built
from the posts table as live timelines are: what is pushed during the build is kept.
"""

import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from cachebox import LRUCache
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.questions import Question, Replies, answer
from posts.ids import PostId
from timelines.hot.directory import add_commands
from timelines.queries.pull import list_newest_entries
from timelines.stores.packed import PackedStore
from timelines.types import Entry, LiveTimeline

HOT_ENTRIES_FAMILY = "timelines.hot_entries:v1"
# Older entries are pulled.
ENTRIES_PER_AUTHOR = 100
LIVE_S = 7 * 86_400
COPY_S = 1.0
MAX_COPIES = 10_000


class HotEntries(NamedTuple):
    """One hot author's packed entries from `complete_from` on, oldest first.

    `reposts`: by the post that they show. `read_at`: monotonic seconds just before the read.
    """

    entries: list[bytes]
    complete_from: int
    reposts: Mapping[PostId, Sequence[Entry]]
    read_at: float


NONE_AHEAD: Mapping[int, HotEntries] = {}


class HotEntriesCache:
    """This process's copies of hot authors' entries. A returned copy is at most COPY_S old."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._copies: LRUCache[int, HotEntries] = LRUCache(MAX_COPIES)
        self._clock_s = clock_s

    def list_stale(self, author_ids: Collection[int], since_s: float = 0.0) -> list[int]:
        """The authors whose copies are missing or too old, or from before `since_s`."""
        oldest = max(self._clock_s() - COPY_S, since_s)
        copies = ((author, self._copies.get(author)) for author in author_ids)
        return [author for author, copy in copies if copy is None or copy.read_at < oldest]

    def ask(
        self, author_ids: Collection[int], since_s: float = 0.0
    ) -> Question[Mapping[int, HotEntries]]:
        """Reads the entries of those authors whose copies are stale. For `load`."""
        read_at = self._clock_s()
        asked = {i: hot_entries_store().ask(i) for i in self.list_stale(author_ids, since_s)}

        def decode(replies: Replies) -> dict[int, HotEntries]:
            if replies is None:
                return {}
            read = zip(asked.items(), replies, strict=True)
            found = {author: question.decode([reply]) for (author, question), reply in read}
            return {i: _hot_entries(one, read_at) for i, one in found.items() if one is not None}

        return Question([c for one in asked.values() for c in one.commands()], decode)

    def load(
        self,
        author_ids: Sequence[int],
        since_s: float = 0.0,
        ahead: Mapping[int, HotEntries] = NONE_AHEAD,
    ) -> list[HotEntries]:
        """One per author, none from before `since_s`. `ahead`: answered to `ask` in this request.

        Cost: none when all are fresh; else one round trip, and for each author that Redis lacks one
        query and two round trips.
        """
        self._copies.update(ahead)
        stale = self.list_stale(author_ids, since_s)
        for author in stale:
            self._copies.pop(author, None)
        if stale:
            self._copies.update(answer(self.ask(stale, since_s)))
        return [self._copies.get(author) or self._build(author) for author in author_ids]

    def _build(self, author_id: int) -> HotEntries:
        read_at = self._clock_s()
        self._copies[author_id] = built = _hot_entries(_build(author_id), read_at)
        return built


def push_hot_entries(posted: Mapping[int, Sequence[Entry]]) -> None:
    """Adds entries of hot authors, by author. Raises RedisError.

    Safety: idempotent. Cost: two round trips.
    """
    if posted:
        hot_entries_store().push(posted)
        redis().run(add_commands(set(posted)))


@cache
def hot_entries_store() -> PackedStore:
    return PackedStore(ENTRIES_PER_AUTHOR, LIVE_S, HOT_ENTRIES_FAMILY)


def _build(author_id: int) -> LiveTimeline:
    store, epoch = hot_entries_store(), secrets.randbits(64)
    try:
        store.begin_build(author_id, epoch)
        built = _read_from_posts(author_id)
        store.finish_build(author_id, epoch, built)
    except RedisError:
        return _read_from_posts(author_id)
    return built


def _read_from_posts(author_id: int) -> LiveTimeline:
    entries, complete_from = list_newest_entries(author_id, 0, ENTRIES_PER_AUTHOR)
    return LiveTimeline.of([entry.packed for entry in reversed(entries)], complete_from, 0)


def _hot_entries(found: LiveTimeline, read_at: float) -> HotEntries:
    return HotEntries(found.packed, found.complete_from, found.reposts(), read_at)


hot_entries = HotEntriesCache()
