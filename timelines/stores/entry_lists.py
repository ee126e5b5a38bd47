"""Newest entries of single sources, in Redis like home timelines: pages merge them.

A source is a hot author, or a tag. The drain pushes new entries to the lists that Redis has. A
missing list is built as live timelines are: what is pushed during the build is kept.
"""

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from redis.exceptions import RedisError

from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, ask_each
from timelines.stores.overtaken import OvertakenTimelines
from timelines.stores.packed import PackedStore
from timelines.types import LiveTimeline

# Reads the newest entries of these sources from the shards.
Read = Callable[[Sequence[int]], Mapping[int, LiveTimeline]]


class EntryLists:
    """The lists of one family. `store`: where they are; its timelines have version 0."""

    def __init__(self, family: str, store: Callable[[], PackedStore], read: Read) -> None:
        self._family, self._store, self._read = family, store, read
        self._loads = SharedLoads(family, partial(key, family), self._ask_stored, self._build_all)
        self._overtaken = OvertakenTimelines(lambda ids: self._store().drop_from_redis(ids))

    def ask(self, source_ids: Sequence[int]) -> Question[dict[int, LiveTimeline]]:
        """The lists of all these sources.

        Cost: one command a source. For those that Redis lacks, two round trips more a source, two
        for all, and what `read` costs.
        """
        return self._ask_stored(source_ids).then(partial(self._complete, source_ids))

    def _complete(
        self, source_ids: Sequence[int], stored: Mapping[int, LiveTimeline]
    ) -> dict[int, LiveTimeline]:
        missing = [source_id for source_id in source_ids if source_id not in stored]
        built = self._loads.load_missing(missing) if missing else {}
        return {i: stored.get(i) or built[i] for i in source_ids}

    def _ask_stored(self, source_ids: Collection[int]) -> Question[dict[int, LiveTimeline]]:
        """The lists that Redis has."""
        asked = ask_each({i: self._store().ask(i) for i in source_ids})
        return asked.then(lambda lists: {i: live for i, live in lists.items() if live is not None})

    def _build_all(
        self, source_ids: Sequence[int], tokens: LoadTokens
    ) -> Mapping[int, LiveTimeline]:
        built = self._build(source_ids)
        keys = [key(self._family, source_id) for source_id in source_ids]
        write_loaded(self._family, tokens.release_commands(keys))
        return built

    def _build(self, source_ids: Sequence[int]) -> Mapping[int, LiveTimeline]:
        """Each build begins before its source is read, so that it keeps what is pushed then."""
        store, epoch = self._store(), secrets.randbits(64)
        try:
            for source_id in source_ids:
                store.begin_build(source_id, epoch)
            built = self._read(source_ids)
            for source_id in source_ids:
                store.finish_build(source_id, epoch, built[source_id])
        except RedisError:
            built = self._read(source_ids)
            for source_id in source_ids:
                self._overtaken.note(source_id)
        return built
