"""Hot timelines in Redis over cold ones on the shards: who returns is served by one range read.

Every change goes to both, cold first. So an entry that a hot timeline lacks because it was not
there yet is in the cold one already, and one that the cold one had not when it was read comes to
the hot one, whose build began before. Who dies between the two leaves a change that is delivered
again (docs/explanation/architecture.md, Stores).
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command
from infra.caching.keys import key
from infra.changes.errors import UNREACHABLE
from timelines.stores.interface import FollowingChange
from timelines.stores.packed import PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.types import Entry, LiveTimeline

# Whether the cold timeline was told today that its reader reads: timelines.touched:v1:{reader}
NOTED = "timelines.touched:v1"
DAY_S = 86_400
log = structlog.get_logger()


class TieredStore:
    """TimelineStore of two. Raises what either does, a push after all it reaches have it."""

    def __init__(self, hot: PackedStore, cold: PostgresStore) -> None:
        self._hot, self._cold = hot, cold

    def read_commands(self, reader_id: int) -> Sequence[Command]:
        note = ("SET", key(NOTED, reader_id), 1, "NX", "EX", DAY_S)
        return [note, *self._hot.read_commands(reader_id)]

    def load(self, reader_id: int, replies: Sequence[Any]) -> LiveTimeline | None:
        """Without Redis from the cold one. One statement more once a day; when only the cold one
        is there, two queries and two round trips more."""
        if not replies:
            return self._cold.load(reader_id, ())
        found = self._hot.load(reader_id, replies[1:])
        if found is None:
            return self._warm(reader_id)
        if replies[0] is not None:
            self._note(reader_id)
        return found

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        """As a read would find them: the hot one, else the cold one."""
        hot = self._hot.peek(reader_ids)
        return hot | self._cold.peek([r for r in reader_ids if r not in hot])

    def find_complete_from(self, reader_id: int) -> int | None:
        """Of the one that reaches further down: what is brought from there on is for both."""
        marks = self._hot.find_complete_from(reader_id), self._cold.find_complete_from(reader_id)
        return min((mark for mark in marks if mark is not None), default=None)

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        try:
            return self._cold.push(entries)
        finally:
            self._hot.push(entries)

    def begin_build(self, reader_id: int, epoch: int) -> None:
        """Redis first: when it is away, nothing will be laid, and the cold one stays as it is."""
        self._hot.begin_build(reader_id, epoch)
        self._cold.begin_build(reader_id, epoch)

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        is_laid = self._cold.finish_build(reader_id, epoch, timeline)
        return self._hot.finish_build(reader_id, epoch, timeline) and is_laid

    def change_following(self, reader_id: int, change: FollowingChange) -> None:
        self._cold.change_following(reader_id, change)
        self._hot.change_following(reader_id, change)

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        """Of each that is as it was seen. One that is not is looked at when it is the one read."""
        is_cold = self._cold.remove(reader_id, seen, entries)
        return self._hot.remove(reader_id, seen, entries) or is_cold

    def drop(self, reader_id: int) -> None:
        self._cold.drop(reader_id)
        self._hot.drop(reader_id)

    def _warm(self, reader_id: int) -> LiveTimeline | None:
        """The cold timeline, laid in Redis by the protocol of builds; unless it cannot be read, so
        that whoever builds both just now is not taken over for nothing."""
        if not self._cold.is_readable(reader_id):
            return None
        epoch = secrets.randbits(64)
        try:
            self._hot.begin_build(reader_id, epoch)
            found = self._cold.load(reader_id, ())
            if found is not None:
                self._hot.finish_build(reader_id, epoch, found)
        except RedisError:
            return self._cold.load(reader_id, ())
        return found

    def _note(self, reader_id: int) -> None:
        """A shard that is away costs a day of the cold timeline's life, not the page."""
        try:
            self._cold.touch(reader_id)
        except UNREACHABLE as error:
            log.warning("timeline.read_not_noted", reader=reader_id, error=str(error))
