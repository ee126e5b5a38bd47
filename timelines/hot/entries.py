"""Hot authors' newest entries: in Redis as timelines are, in process memory for a second.

    timelines.hot_entries:v1:{author}   as a home timeline (stores/packed.py); its version is 0

The drain pushes what a hot author posts here instead of to the followers. An outbox that is not
there is built from the posts table, by the protocol of live timelines: what is pushed meanwhile is
kept.
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
from timelines.hot.directory import announce_commands
from timelines.queries.newest import list_newest_entries
from timelines.stores.packed import PackedStore
from timelines.types import Entry, LiveTimeline

HOT_ENTRIES_FAMILY = "timelines.hot_entries:v1"
# Of each author; what is older is pulled.
ENTRIES_PER_AUTHOR = 100
LIVE_S = 7 * 86_400
COPY_S = 1.0
MOST_COPIES = 10_000


class HotEntries(NamedTuple):
    """What a hot author brought: packed entries from `complete_from` on, oldest first.

    `read_at`: monotonic seconds before it was asked for. `reposts`: by what they show.
    """

    entries: list[bytes]
    complete_from: int
    reposts: Mapping[PostId, Sequence[Entry]]
    read_at: float


class HotEntriesCache:
    """Copies of outboxes in this process, none older than COPY_S when it is given out."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._copies: LRUCache[int, HotEntries] = LRUCache(MOST_COPIES)
        self._clock_s = clock_s

    def list_stale(self, author_ids: Collection[int]) -> list[int]:
        """Those to be read anew."""
        oldest = self._clock_s() - COPY_S
        copies = ((author, self._copies.get(author)) for author in author_ids)
        return [author for author, copy in copies if copy is None or copy.read_at < oldest]

    def keep(
        self, author_ids: Sequence[int], replies: Sequence[Any], read_at: float
    ) -> Sequence[Any]:
        """Keeps what `read_commands` brought, asked for at `read_at`; returns the other replies,
        which came after."""
        for author, reply in zip(author_ids, replies, strict=False):
            found = hot_entries_store().load(author, [reply])
            if found is not None:
                self._copies[author] = _hot_entries(found, read_at)
        return replies[len(author_ids) :]

    def find(self, author_ids: Sequence[int]) -> list[HotEntries]:
        """One per author. Cost: none when fresh; one round trip for all that are not, and for each
        that Redis lacks one query and two trips."""
        stale, read_at = self.list_stale(author_ids), self._clock_s()
        for author in stale:
            self._copies.pop(author, None)
        if stale:
            self.keep(stale, _ask(stale), read_at)
        return [self._copies.get(author) or self._build(author) for author in author_ids]

    def _build(self, author_id: int) -> HotEntries:
        read_at = self._clock_s()
        self._copies[author_id] = built = _hot_entries(_build(author_id), read_at)
        return built


def read_commands(author_ids: Sequence[int]) -> list[Command]:
    """For gathering, one an author; replies for `keep`."""
    store = hot_entries_store()
    return [command for author in author_ids for command in store.read_commands(author)]


def push_hot_entries(posted: Mapping[int, Sequence[Entry]]) -> None:
    """Adds entries of hot authors where their followers' pages look. Raises RedisError.

    Safety: may run again. Cost: two round trips.
    """
    if posted:
        hot_entries_store().push(posted)
        redis().run(announce_commands(set(posted)))


@cache
def hot_entries_store() -> PackedStore:
    return PackedStore(ENTRIES_PER_AUTHOR, LIVE_S, HOT_ENTRIES_FAMILY)


def _ask(author_ids: Sequence[int]) -> list[Any]:
    try:
        return redis().run(read_commands(author_ids))
    except RedisError:
        return []


def _build(author_id: int) -> LiveTimeline:
    store, epoch = hot_entries_store(), secrets.randbits(64)
    try:
        store.begin_build(author_id, epoch)
        built = _read(author_id)
        store.finish_build(author_id, epoch, built)
    except RedisError:
        return _read(author_id)
    return built


def _read(author_id: int) -> LiveTimeline:
    entries, complete_from = list_newest_entries(author_id, 0, ENTRIES_PER_AUTHOR)
    return LiveTimeline.of([entry.packed for entry in reversed(entries)], complete_from, 0)


def _hot_entries(found: LiveTimeline, read_at: float) -> HotEntries:
    return HotEntries(found.packed, found.complete_from, found.reposts(), read_at)


hot_entries = HotEntriesCache()
