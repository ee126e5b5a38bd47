"""Home timelines as rows on their readers' shards: as durable as posts, without keys in Redis.

    timelines_head    one row per live reader: low-water mark, version, epoch, last read
    timelines_entry   reader, second, author, sequence: a page is one range of the primary key

Only the head is locked. An entry without a head, or from below the low-water mark, does no harm:
pages show entries from the mark on, and check each by the rules. When a push finds no head yet,
the build finds the entry, because it was indexed before the push (recent/actions/index_posts.py).

A head can be read for `live_days` after its last read, and one day more because the read is noted
once a day. Pushes reach it for another day. So a timeline that is read at the last moment has
missed no push.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import transaction

from infra.caching.questions import Question
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import execute, fetch_all, fetch_one
from posts.ids import MAX_SECOND
from timelines.stores.generation import epoch_in, first_epoch
from timelines.stores.interface import FollowingChange
from timelines.stores.rows import ADD, PUSH, READ, entry_columns, packed_of, push_params
from timelines.stores.weeks import oldest_second_read
from timelines.types import SECOND, Entry, LiveTimeline

# Two of the largest pages: the rules may hide some entries of a page.
ENOUGH = 80
FIND = """
SELECT CASE WHEN complete_from IS NULL THEN 0 ELSE GREATEST(complete_from, %s) END
FROM timelines_head WHERE reader_id = %s AND read_at > now() - %s * interval '1 day'
"""
# A timeline whose mark was written by a build needs no entries: its pages are pulled below it.
FILLS_A_PAGE = """
SELECT 1 FROM timelines_head AS head
WHERE reader_id = %(reader)s AND complete_from IS NOT NULL
    AND read_at > now() - %(days)s * interval '1 day' AND epoch >= %(first_epoch)s
    AND (complete_from >= %(floor)s OR %(enough)s = (
        SELECT count(*) FROM (
            SELECT FROM timelines_entry AS entry
            WHERE entry.reader_id = head.reader_id AND second >= %(floor)s LIMIT %(enough)s
        ) AS newest
    ))
"""
TOUCH = """
UPDATE timelines_head SET read_at = now()
WHERE reader_id = %s AND read_at > now() - %s * interval '1 day'
"""
BEGIN = """
INSERT INTO timelines_head (reader_id, complete_from, following_version, epoch, read_at)
VALUES (%s, NULL, 0, %s, now())
ON CONFLICT (reader_id) DO UPDATE SET complete_from = NULL, following_version = 0,
    epoch = EXCLUDED.epoch, read_at = now()
RETURNING xmax = 0
"""
FINISH = """
UPDATE timelines_head SET complete_from = %s, following_version = %s, read_at = now()
WHERE reader_id = %s AND epoch = %s
"""
# Has no effect during a build (complete_from is null), which needs all pushes.
RAISE_LOW_WATER_MARK = (
    "UPDATE timelines_head SET complete_from = %s WHERE reader_id = %s AND complete_from < %s"
)
CUT = "DELETE FROM timelines_entry WHERE reader_id = %s AND second < %s"
LOCK = """
SELECT complete_from, following_version FROM timelines_head WHERE reader_id = %s FOR UPDATE
"""
STEP = """
UPDATE timelines_head SET following_version = GREATEST(following_version, %s),
    complete_from = GREATEST(complete_from, %s)
WHERE reader_id = %s AND complete_from IS NOT NULL
"""
REMOVE_AUTHOR = "DELETE FROM timelines_entry WHERE reader_id = %s AND author_id = %s"
REMOVE = """
DELETE FROM timelines_entry AS entry
USING unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS removed (second, author_id, sequence)
WHERE entry.reader_id = %s AND entry.second = removed.second
    AND entry.author_id = removed.author_id AND entry.sequence = removed.sequence
"""
# The lock is awaited before any entry is deleted: others lock the head, and then write entries.
DROP = """
WITH locked AS MATERIALIZED (
    SELECT 1 FROM timelines_head WHERE reader_id = %(reader)s FOR UPDATE
), head AS (DELETE FROM timelines_head WHERE reader_id = %(reader)s)
DELETE FROM timelines_entry
WHERE reader_id = %(reader)s AND (SELECT count(*) FROM locked) >= 0
"""


class PostgresStore:
    """TimelineStore on the shards. Each call uses the reader's shard; a push uses many.

    Raises: OperationalError, InterfaceError when a shard is down. A push raises after it reached
    all other shards.
    """

    def __init__(
        self,
        max_entries: int,
        live_days: int,
        kept_days: int,
        generation: int = 0,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        self._max_entries = max_entries
        self._read_days, self._pushed_days = live_days + 1, live_days + 2
        self._kept_days = kept_days
        self._clock_s = clock_s
        self._generation, self._first_epoch = generation, _signed(first_epoch(generation))

    def ask(self, reader_id: int) -> Question[LiveTimeline | None]:
        return Question((), lambda _: self.load(reader_id))

    def load(self, reader_id: int) -> LiveTimeline | None:
        """The answer to `ask`.

        Cost: one query; a second one once a day, and two more when the timeline is cut.
        """
        rows = self._read(shard_of(reader_id), [reader_id])
        if not rows:
            return None
        if rows[0][3]:
            self.touch(reader_id)
        return self._timeline(reader_id, rows)

    def fills_a_page(self, reader_id: int) -> bool:
        """Whether there is a timeline, and a page of it needs nothing from below its weeks.

        A reader's few entries are read again by each page: the rows cannot say that there were no
        more in the weeks that were dropped. A build knows it. One query.
        """
        params = {
            "reader": reader_id,
            "days": self._read_days,
            "first_epoch": self._first_epoch,
            "floor": self._floor(),
            "enough": ENOUGH,
        }
        return fetch_one(shard_of(reader_id), FILLS_A_PAGE, params) is not None

    def touch(self, reader_id: int) -> None:
        """Notes a read, which extends the life of a live timeline. One statement."""
        execute(shard_of(reader_id), TOUCH, (reader_id, self._read_days))

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        groups = group_by_shard(reader_ids).items()
        parts = scatter({alias: partial(self._read, alias, part) for alias, part in groups})
        by_reader: dict[int, list[tuple[Any, ...]]] = {}
        for row in (row for rows in parts.values() for row in rows):
            by_reader.setdefault(row[0], []).append(row)
        return {reader_id: self._timeline(reader_id, rows) for reader_id, rows in by_reader.items()}

    def find_complete_from(self, reader_id: int) -> int | None:
        row = fetch_one(shard_of(reader_id), FIND, (self._floor(), reader_id, self._read_days))
        return None if row is None else int(row[0])

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        """One statement a shard, in parallel."""
        groups = group_by_shard(entries)
        parts = {alias: {r: entries[r] for r in readers} for alias, readers in groups.items()}
        return sum(scatter({a: partial(self._push, a, part) for a, part in parts.items()}).values())

    def begin_build(self, reader_id: int, epoch: int) -> None:
        alias = shard_of(reader_id)
        with transaction.atomic(using=alias):
            row = fetch_one(alias, BEGIN, (reader_id, self._stored(epoch)))
            if row == (
                True,
            ):  # the rows had no head, so entries of unfollowed authors were not removed
                execute(alias, CUT, (reader_id, MAX_SECOND + 1))

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        alias, (data, complete_from, version) = shard_of(reader_id), timeline
        entries = Entry.split(data)
        with transaction.atomic(using=alias):
            if not execute(alias, FINISH, (complete_from, version, reader_id, self._stored(epoch))):
                return False
            execute(alias, CUT, (reader_id, complete_from))
            execute(alias, ADD, (reader_id, *entry_columns(entries)))
        return True

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        alias = shard_of(reader_id)
        with transaction.atomic(using=alias):
            head = fetch_one(alias, LOCK, (reader_id,))
            if head is None:
                return True
            if head[0] is not None and head[1] < change.before:
                execute(alias, DROP, {"reader": reader_id})
                return True
            if head[0] is not None and head[1] > change.read_at:
                return False
            execute(alias, STEP, (change.after, change.complete_from, reader_id))
            if change.removed_author is not None:
                execute(alias, REMOVE_AUTHOR, (reader_id, change.removed_author))
            execute(alias, ADD, (reader_id, *entry_columns(change.added)))
        return True

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        alias = shard_of(reader_id)
        with transaction.atomic(using=alias):
            head = fetch_one(alias, LOCK, (reader_id,))
            if head is None or head[0] is None or not self._is_same(head, seen):
                return False
            execute(alias, REMOVE, (*entry_columns(entries)[:3], reader_id))
        return True

    def drop(self, reader_id: int) -> None:
        execute(shard_of(reader_id), DROP, {"reader": reader_id})

    def drop_from_redis(self, reader_ids: Sequence[int]) -> None:
        """Does nothing: pages without Redis read the same rows."""

    def _is_same(self, head: tuple[Any, ...], seen: LiveTimeline) -> bool:
        mark = max(head[0], self._floor())
        return (mark, head[1]) == (seen.complete_from, seen.following_version)

    def _read(self, alias: str, reader_ids: Sequence[int]) -> list[tuple[Any, ...]]:
        """Rows of READ. More than `_most` rows for a reader mean that the timeline is to be cut."""
        params = {
            "readers": list(reader_ids),
            "floor": self._floor(),
            "limit": self._most + 1,
            "days": self._read_days,
            "first_epoch": self._first_epoch,
        }
        return fetch_all(alias, READ, params)

    @property
    def _most(self) -> int:
        return self._max_entries + self._max_entries // 2

    def _timeline(self, reader_id: int, rows: Sequence[tuple[Any, ...]]) -> LiveTimeline:
        packed, (_, complete_from, version) = packed_of(rows), rows[0][:3]
        if len(packed) > self._most:
            # A cut inside a second leaves that second incomplete.
            complete_from = SECOND.unpack_from(packed[-self._max_entries - 1])[0] + 1
            self._cut(reader_id, complete_from)
            packed = [entry for entry in packed if entry >= SECOND.pack(complete_from)]
        return LiveTimeline.of(packed, complete_from, version)

    def _cut(self, reader_id: int, complete_from: int) -> None:
        alias = shard_of(reader_id)
        with transaction.atomic(using=alias):
            if execute(alias, RAISE_LOW_WATER_MARK, (complete_from, reader_id, complete_from)):
                execute(alias, CUT, (reader_id, complete_from))

    def _push(self, alias: str, pushed: Mapping[int, Sequence[Entry]]) -> int:
        row = fetch_one(alias, PUSH, push_params(pushed, self._pushed_days))
        return int(row[0])  # type: ignore[index]  # an aggregate

    def _stored(self, epoch: int) -> int:
        return _signed(epoch_in(self._generation, epoch))

    def _floor(self) -> int:
        """The second below which whole weeks may have been dropped."""
        today = datetime.fromtimestamp(self._clock_s(), UTC).date()
        return oldest_second_read(today, self._kept_days)


def _signed(epoch: int) -> int:
    """The epoch as a signed 64-bit number, in the same order, as PostgreSQL needs it."""
    return epoch - (1 << 63)
