"""Home timelines whose entries are in Cassandra, and whose heads are rows on the readers' shards.

    reader_id, build   partition key; `build` is the epoch in the head: each build has a partition
    event              10 bytes, newest first; MARKER: the build has ended
    shown              10 bytes: the post that is shown there

Cassandra has no locks, so the head decides:

- A build without MARKER is lost, and its timeline is not alive.
- If Cassandra does not take a write, the head is deleted. The next build has another partition. So
  Cassandra may be away, and costs pulls, but no entry.
- A write carries the time when its head was read, by the clock of the reader's shard, and the
  latest write of an entry wins. A step that ends after another change of the head deletes the head.
- No more than single entries are deleted. The TTL of the table removes old builds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.ids import PACKED_BYTES
from timelines.stores.cassandra_breaker import FORGOTTEN, CassandraAway
from timelines.stores.interface import FollowingChange
from timelines.stores.postgres import BEGIN, ENOUGH, PostgresStore
from timelines.types import PACKED_ENTRY, SECOND, Entry, LiveTimeline

if TYPE_CHECKING:  # without CASSANDRA_URL the driver may be missing
    from timelines.stores.cassandra_session import CassandraSession

READ = """
SELECT event, shown FROM timelines_entry
WHERE reader_id = ? AND build = ? AND event >= ? LIMIT ?
"""
ADD = """
INSERT INTO timelines_entry (reader_id, build, event, shown) VALUES (?, ?, ?, ?) USING TIMESTAMP ?
"""
REMOVE = """
DELETE FROM timelines_entry USING TIMESTAMP ? WHERE reader_id = ? AND build = ? AND event = ?
"""
STATEMENTS = READ, ADD, REMOVE
# Later than any event.
MARKER = b"\xff" * PACKED_BYTES
# Each change of a row gives it another xmin.
HEADS = """
SELECT complete_from, following_version, epoch, reader_id, xmin::text,
    read_at < now() - interval '1 day', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM timelines_head
WHERE reader_id = ANY(%s) AND read_at > now() - %s * interval '1 day'
"""
CHANGE = """
UPDATE timelines_head SET complete_from = %s, following_version = %s
WHERE reader_id = %s AND xmin = %s::xid
"""
GIVE_UP = "DELETE FROM timelines_head WHERE reader_id = ANY(%s)"


class _Head(NamedTuple):
    """`complete_from`: None during a build. `is_old`: not read for a day. `at_us`: when the head
    was read."""

    complete_from: int | None
    version: int
    epoch: int
    reader_id: int
    xmin: str
    is_old: bool
    at_us: int


class CassandraStore(PostgresStore):
    """TimelineStore below Redis. `peek` raises CassandraAway; for pages there are no timelines
    then."""

    def __init__(self, session: "CassandraSession", *args: Any) -> None:
        super().__init__(*args)
        self._session = session

    def load(self, reader_id: int) -> LiveTimeline | None:
        """Cost: as PostgresStore, and a query of Cassandra."""
        try:
            return super().load(reader_id)
        except CassandraAway:
            return None

    def fills_a_page(self, reader_id: int) -> bool:
        for head in self._readable(shard_of(reader_id), [reader_id]):
            try:
                is_whole = _mark(head) >= self._floor()
                return is_whole or len(self._entries([head], ENOUGH)) >= ENOUGH
            except CassandraAway:
                break
        return False

    def begin_build(self, reader_id: int, epoch: int) -> None:
        execute(shard_of(reader_id), BEGIN, (reader_id, self._stored(epoch)))

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        head = self._find_head(reader_id)
        if head is None or head.epoch != self._stored(epoch):
            return False
        with _giving_up([head]):
            self._add(head, [*_pairs(Entry.split(timeline.data)), (MARKER, b"")])
        return _change(head, timeline.complete_from, timeline.following_version)

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        head = self._find_head(reader_id)
        if head is None:
            return True
        if head.complete_from is not None and head.version < change.before:
            self.drop(reader_id)
            return True
        if head.complete_from is not None and head.version > change.read_at:
            return False
        with _giving_up([head]):
            mark = max(change.complete_from, self._remove_author(head, change.removed_author))
            self._add(head, _pairs(change.added))
            _end_step(head, mark, change.after)
        return True

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        head = self._find_head(reader_id)
        if head is None or head.complete_from is None or not self._is_same(head, seen):
            return False
        with _giving_up([head]):
            self._remove(head, [event for event, _ in _pairs(entries)])
            _end_step(head)
        return True

    def _push(self, alias: str, pushed: Mapping[int, Sequence[Entry]]) -> int:
        heads = self._heads(alias, [*pushed], self._pushed_days)
        if not heads:
            return 0
        pairs = {id(entries): _pairs(entries) for entries in pushed.values()}
        rows = (
            (head.reader_id, head.epoch, *pair, head.at_us)
            for head in heads
            for pair in pairs[id(pushed[head.reader_id])]
        )
        with _giving_up(heads):
            self._session.write(ADD, rows)
        return len(heads)

    def _read(self, alias: str, reader_ids: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._entries(self._readable(alias, reader_ids), self._most + 1)

    def _entries(self, heads: Sequence[_Head], most: int) -> list[tuple[Any, ...]]:
        """Rows as those of rows.READ, for the builds that Cassandra has."""
        marks = [max(_mark(head), self._floor()) for head in heads]
        keys = [
            (head.reader_id, head.epoch, SECOND.pack(mark), most + 1)
            for head, mark in zip(heads, marks, strict=True)
        ]
        builds = zip(heads, marks, self._session.fetch(READ, keys), strict=True)
        return [
            (head.reader_id, mark, head.version, head.is_old, *entry)
            for head, mark, rows in builds
            if rows and rows[0][0] == MARKER
            for entry in [PACKED_ENTRY.unpack(b"".join(row)) for row in rows[1:]] or [(None,)]
        ]

    def _readable(self, alias: str, reader_ids: Sequence[int]) -> list[_Head]:
        heads = self._heads(alias, reader_ids, self._read_days)
        first = self._first_epoch
        return [h for h in heads if h.complete_from is not None and h.epoch >= first]

    def _find_head(self, reader_id: int) -> _Head | None:
        return next(iter(self._heads(shard_of(reader_id), [reader_id], self._pushed_days)), None)

    def _heads(self, alias: str, reader_ids: Sequence[int], days: int) -> list[_Head]:
        return [_Head(*row) for row in fetch_all(alias, HEADS, ([*reader_ids], days))]

    def _remove_author(self, head: _Head, author_id: int | None) -> int:
        """Returns the second from which on no entry of the author is left.

        More entries than a timeline has are not looked at.
        """
        if author_id is None:
            return 0
        key = head.reader_id, head.epoch, SECOND.pack(_mark(head)), self._most + 1
        events = [event for event, _ in self._session.fetch(READ, [key])[0] if event != MARKER]
        author = SECOND.pack(author_id)
        self._remove(head, [event for event in events if event[4:8] == author])
        return SECOND.unpack_from(events[-1])[0] + 1 if len(events) >= self._most else 0

    def _add(self, head: _Head, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        rows = ((head.reader_id, head.epoch, *pair, head.at_us) for pair in pairs)
        self._session.write(ADD, rows)

    def _remove(self, head: _Head, events: Iterable[bytes]) -> None:
        rows = ((head.at_us, head.reader_id, head.epoch, event) for event in events)
        self._session.write(REMOVE, rows)


def _pairs(entries: Iterable[Entry]) -> list[tuple[bytes, bytes]]:
    return [(event.packed, original.packed) for event, original in entries]


def _mark(head: _Head) -> int:
    return head.complete_from or 0


def _end_step(head: _Head, mark: int = 0, version: int = 0) -> None:
    """Raises: CassandraAway, as if nothing had been written, if the head was changed since."""
    is_building = head.complete_from is None
    complete_from = None if is_building else max(_mark(head), mark)
    if not _change(head, complete_from, max(head.version, version)):
        raise CassandraAway("the timeline was changed twice at the same time")


def _change(head: _Head, complete_from: int | None, version: int) -> bool:
    """False: the head was changed since it was read."""
    params = complete_from, version, head.reader_id, head.xmin
    return bool(execute(shard_of(head.reader_id), CHANGE, params))


@contextmanager
def _giving_up(heads: Sequence[_Head]) -> Iterator[None]:
    """Ends the timelines of these heads, of one shard, if Cassandra may lack an entry of theirs."""
    try:
        yield
    except CassandraAway:
        readers = [head.reader_id for head in heads]
        FORGOTTEN.inc(execute(shard_of(readers[0]), GIVE_UP, (readers,)))
