"""Hot timelines in Redis above cold ones on the shards: one range read serves a returning reader.

Every change goes to both, to the cold one first. So an entry that a hot timeline lacks, because it
did not exist yet, is already in the cold one. An entry that the cold one lacked when it was read is
pushed to the hot one, whose build began before. When a process dies between the two, the change is
delivered again.

A build ends in the hot one first. Else a reader would find the cold one ended and the hot one not,
and would take over the hot build to copy the cold one. When a process dies between the two, the
cold one stays unreadable, and the next reader without a hot one builds both.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import partial

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, Replies, ask_both
from infra.changes.errors import UNREACHABLE
from timelines.stores.interface import FollowingChange
from timelines.stores.packed import PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.types import Entry, LiveTimeline

# timelines.touched:v1:{reader}: set while a read was noted in the cold timeline within a day.
TOUCHED = "timelines.touched:v1"
# timelines.warmings:v1:{reader}:load: load token; a thread copies the cold timeline, others wait.
FAMILY = "timelines.warmings:v1"
DAY_S = 86_400
log = structlog.get_logger()


class TieredStore:
    """TimelineStore of two stores. Raises what either raises; a push raises after it reached the
    rest."""

    def __init__(self, hot: PackedStore, cold: PostgresStore) -> None:
        self._hot, self._cold = hot, cold
        self._warmings = SharedLoads(FAMILY, _key_of, self._ask_hot, self._write_hot)

    def ask(self, reader_id: int) -> Question[LiveTimeline | None]:
        """The cold timeline when Redis is down or has none.

        Extra cost: one statement once a day; when only the cold one exists, two queries and two
        round trips.
        """
        touch: Command = ("SET", key(TOUCHED, reader_id), 1, "NX", "EX", DAY_S)
        both = ask_both(Question([touch], _is_first), self._hot.ask(reader_id))
        return both.then(partial(self._choose, reader_id))

    def _choose(
        self, reader_id: int, answers: tuple[bool | None, LiveTimeline | None]
    ) -> LiveTimeline | None:
        is_first, hot = answers
        if is_first is None:
            return self._cold.load(reader_id)
        if hot is None:
            return self._warm(reader_id)
        if is_first:
            self._touch(reader_id)
        return hot

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        """The hot timeline of each reader, else the cold one."""
        hot = self._hot.peek(reader_ids)
        return hot | self._cold.peek([r for r in reader_ids if r not in hot])

    def find_complete_from(self, reader_id: int) -> int | None:
        """The lower mark of the two: entries from there on are for both."""
        marks = self._hot.find_complete_from(reader_id), self._cold.find_complete_from(reader_id)
        return min((mark for mark in marks if mark is not None), default=None)

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        try:
            return self._cold.push(entries)
        finally:
            self._hot.push(entries)

    def begin_build(self, reader_id: int, epoch: int) -> None:
        """Redis first: when it is down, no build ends, and the cold timeline stays as it is."""
        self._hot.begin_build(reader_id, epoch)
        self._cold.begin_build(reader_id, epoch)

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        """Without Redis the cold timeline ends its build all the same."""
        try:
            is_hot = self._hot.finish_build(reader_id, epoch, timeline)
        finally:
            is_cold = self._cold.finish_build(reader_id, epoch, timeline)
        return is_hot and is_cold

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        is_current = self._cold.change_following(reader_id, change)
        return is_current and self._hot.change_following(reader_id, change)

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        """Removes entries from each of the two that is as `seen`. The other keeps its entries."""
        is_cold = self._cold.remove(reader_id, seen, entries)
        return self._hot.remove(reader_id, seen, entries) or is_cold

    def drop(self, reader_id: int) -> None:
        self._cold.drop(reader_id)
        self._hot.drop(reader_id)

    def drop_from_redis(self, reader_ids: Sequence[int]) -> None:
        """A push that reached only the cold timeline is kept: pages without Redis read that one."""
        self._hot.drop_from_redis(reader_ids)

    def _warm(self, reader_id: int) -> LiveTimeline | None:
        """The cold timeline, which this thread or another one writes to Redis.

        Only if it can be read: else this would needlessly take over a build of both. None also if
        it does not fill a page: building both costs one pull, and then no page pulls.
        """
        if not self._cold.fills_a_page(reader_id):
            return None
        return self._warmings.load_missing([reader_id]).get(reader_id)

    def _ask_hot(self, reader_ids: Sequence[int]) -> Question[dict[int, LiveTimeline]]:
        (reader_id,) = reader_ids
        asked = self._hot.ask(reader_id)
        return asked.then(lambda timeline: {} if timeline is None else {reader_id: timeline})

    def _write_hot(self, reader_ids: Sequence[int], tokens: LoadTokens) -> dict[int, LiveTimeline]:
        """By the protocol of builds."""
        (reader_id,), epoch = reader_ids, secrets.randbits(64)
        try:
            self._hot.begin_build(reader_id, epoch)
            cold = self._cold.load(reader_id)
            if cold is not None:
                self._hot.finish_build(reader_id, epoch, cold)
        except RedisError:
            cold = self._cold.load(reader_id)
        write_loaded(FAMILY, tokens.release_commands([_key_of(reader_id)]))
        return {} if cold is None else {reader_id: cold}

    def _touch(self, reader_id: int) -> None:
        """When the shard is down, the cold timeline loses a day of its life and the page works."""
        try:
            self._cold.touch(reader_id)
        except UNREACHABLE as error:
            log.warning("timeline.touch_failed", reader=reader_id, error=str(error))


def _key_of(reader_id: int) -> bytes:
    return key(FAMILY, reader_id)


def _is_first(replies: Replies) -> bool | None:
    """Whether this is the first read within a day. None: Redis is away."""
    return None if replies is None else replies[0] is not None
