"""Hot authors' newest entries: in Redis like timelines, and for a second in process memory.

    timelines.hot_entries:v1:{author}   like a home timeline (stores/packed.py), with version 0

The drain pushes a hot author's posts here instead of to the followers. Missing entries are built
from the posts table as live timelines are: what is pushed during the build is kept.
"""

import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from cachebox import LRUCache
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
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

    def store_replies(
        self, author_ids: Sequence[int], replies: Sequence[Any], read_at: float
    ) -> None:
        """Stores the replies to `read_commands`, sent at `read_at`."""
        for author, reply in zip(author_ids, replies, strict=False):
            found = hot_entries_store().load(author, [reply])
            if found is not None:
                self._copies[author] = _hot_entries(found, read_at)

    def load(self, author_ids: Sequence[int], since_s: float = 0.0) -> list[HotEntries]:
        """One per author, none from before `since_s`.

        Cost: none when all are fresh; else one round trip, and for each author that Redis lacks one
        query and two round trips.
        """
        stale, read_at = self.list_stale(author_ids, since_s), self._clock_s()
        for author in stale:
            self._copies.pop(author, None)
        if stale:
            self.store_replies(stale, _read_from_redis(stale), read_at)
        return [self._copies.get(author) or self._build(author) for author in author_ids]

    def _build(self, author_id: int) -> HotEntries:
        read_at = self._clock_s()
        self._copies[author_id] = built = _hot_entries(_build(author_id), read_at)
        return built


def read_commands(author_ids: Sequence[int]) -> list[Command]:
    """One command per author, to be sent together with others; replies for `store_replies`."""
    store = hot_entries_store()
    return [command for author in author_ids for command in store.read_commands(author)]


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


def _read_from_redis(author_ids: Sequence[int]) -> list[Any]:
    try:
        return redis().run(read_commands(author_ids))
    except RedisError:
        return []


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
