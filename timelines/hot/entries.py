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

from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, answer, ask_each
from posts.ids import PostId
from timelines.hot.directory import add_hot_authors
from timelines.queries.pull import list_newest_entries
from timelines.stores.overtaken import OvertakenTimelines
from timelines.stores.packed import PackedStore
from timelines.types import Entry, LiveTimeline

HOT_ENTRIES_FAMILY = "timelines.hot_entries:v1"
# Older entries are pulled.
ENTRIES_PER_AUTHOR = 100
LIVE_S = 7 * 86_400
COPY_S = 1.0
MAX_COPIES = 10_000


class HotEntries(NamedTuple):
    """One hot author's packed entries from the second `complete_from` on, oldest first.

    `reposts`: by the post that they show. `read_at`: monotonic seconds just before the read.
    """

    entries: list[bytes]
    complete_from: int
    reposts: Mapping[PostId, Sequence[Entry]]
    read_at: float

    @property
    def as_input(self) -> tuple[Sequence[bytes], int]:
        """What a page uses of them: equal for two reads without a push in between."""
        return self.entries, self.complete_from


NONE_READ: Mapping[int, HotEntries] = {}


class HotEntriesCache:
    """This process's copies of hot authors' entries. A returned copy is at most COPY_S old.

    `since_s`: entries that were read before this moment are too old for the caller. `just_read`:
    the answer to `ask` in this request; other threads may have replaced or dropped its copies.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._copies: LRUCache[int, HotEntries] = LRUCache(MAX_COPIES)
        self._clock_s = clock_s

    def list_stale(self, author_ids: Collection[int], since_s: float = 0.0) -> list[int]:
        """The authors whose copies are missing or too old."""
        oldest = max(self._clock_s() - COPY_S, since_s)
        copies = ((author, self._copies.get(author)) for author in author_ids)
        return [author for author, copy in copies if copy is None or copy.read_at < oldest]

    def find_fresh(
        self, author_ids: Collection[int], just_read: Mapping[int, HotEntries] = NONE_READ
    ) -> list[HotEntries] | None:
        """The copies, one per author; None if one of them is stale. No round trip."""
        if not author_ids:
            return []
        copies = self._find(author_ids, self._clock_s() - COPY_S, just_read)
        return [*copies.values()] if len(copies) == len(author_ids) else None

    def ask(
        self, author_ids: Collection[int], since_s: float = 0.0
    ) -> Question[Mapping[int, HotEntries]]:
        """Reads the entries of those authors whose copies are stale. `load` keeps the answer."""
        read_at, stale = self._clock_s(), author_ids and self.list_stale(author_ids, since_s)
        if not stale:
            return Question((), lambda _: NONE_READ)
        return _ask_entries(stale).then(lambda timelines: _as_read(timelines, read_at))

    def load(
        self,
        author_ids: Sequence[int],
        since_s: float = 0.0,
        just_read: Mapping[int, HotEntries] = NONE_READ,
    ) -> list[HotEntries]:
        """The entries, one per author.

        Cost: none when all are fresh; else one round trip. If Redis lacks some, one more round
        trip, and one query and three round trips for each of them.
        """
        read_at = self._clock_s()
        copies = self._find(author_ids, max(read_at - COPY_S, since_s), just_read)
        for load in (_read_entries, _loads.load_missing):
            missing = [author for author in author_ids if author not in copies]
            if missing:
                read = _as_read(load(missing), read_at)
                self._keep(read)
                copies |= read
        return [copies[author] for author in author_ids]

    def _find(
        self, author_ids: Collection[int], oldest: float, just_read: Mapping[int, HotEntries]
    ) -> dict[int, HotEntries]:
        """The entries that were read after `oldest`, in the order of the authors."""
        self._keep(just_read)
        newest = ((i, self._copies.get(i) or just_read.get(i)) for i in author_ids)
        return {i: copy for i, copy in newest if copy is not None and copy.read_at >= oldest}

    def _keep(self, read: Mapping[int, HotEntries]) -> None:
        """Stores copies, but none over a newer one: a slow request must not take entries back."""
        for author, entries in read.items():
            copy = self._copies.get(author)
            if copy is None or copy.read_at < entries.read_at:
                self._copies[author] = entries


def push_hot_entries(posted: Mapping[int, Sequence[Entry]]) -> None:
    """Adds entries of hot authors, by author. Raises RedisError.

    Safety: idempotent. Cost: two round trips.
    """
    if posted:
        hot_entries_store().push(posted)
        add_hot_authors(posted)


@cache
def hot_entries_store() -> PackedStore:
    return PackedStore(ENTRIES_PER_AUTHOR, LIVE_S, HOT_ENTRIES_FAMILY)


def _read_entries(author_ids: Collection[int]) -> dict[int, LiveTimeline]:
    return answer(_ask_entries(author_ids))


def _ask_entries(author_ids: Collection[int]) -> Question[dict[int, LiveTimeline]]:
    """The entries of those authors that Redis has."""
    asked = ask_each({author: hot_entries_store().ask(author) for author in author_ids})
    return asked.then(
        lambda timelines: {i: timeline for i, timeline in timelines.items() if timeline is not None}
    )


def _build_all(author_ids: Sequence[int], tokens: LoadTokens) -> dict[int, LiveTimeline]:
    built = {author: _build(author) for author in author_ids}
    write_loaded(HOT_ENTRIES_FAMILY, tokens.release_commands(list(map(_key_of, author_ids))))
    return built


def _build(author_id: int) -> LiveTimeline:
    store, epoch = hot_entries_store(), secrets.randbits(64)
    try:
        store.begin_build(author_id, epoch)
        built = _read_from_posts(author_id)
        store.finish_build(author_id, epoch, built)
    except RedisError:
        built = _read_from_posts(author_id)
        _overtaken.note(author_id)
    return built


def _key_of(author_id: int) -> bytes:
    return key(HOT_ENTRIES_FAMILY, author_id)


def _read_from_posts(author_id: int) -> LiveTimeline:
    entries, complete_from = list_newest_entries(author_id, 0, ENTRIES_PER_AUTHOR)
    return LiveTimeline.of([entry.packed for entry in reversed(entries)], complete_from, 0)


def _as_read(timelines: Mapping[int, LiveTimeline], read_at: float) -> dict[int, HotEntries]:
    return {author: _hot_entries(timeline, read_at) for author, timeline in timelines.items()}


def _hot_entries(timeline: LiveTimeline, read_at: float) -> HotEntries:
    return HotEntries(timeline.packed, timeline.complete_from, timeline.reposts(), read_at)


_loads = SharedLoads(HOT_ENTRIES_FAMILY, _key_of, _ask_entries, _build_all)
hot_entries = HotEntriesCache()
_overtaken = OvertakenTimelines(lambda author_ids: hot_entries_store().drop_from_redis(author_ids))
