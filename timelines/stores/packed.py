"""A home timeline as one Redis string: less memory than a sorted set, read by one command.

    head   bytes  0-3    low-water mark: complete from this second on; 0xffffffff during a build
           bytes  4-11   version of the reader's following list that it reflects
           bytes 12-19   epoch of the build that wrote it (generation.py)
    entry  20 bytes      event and original (timelines/types.py)

Entries are in order of arrival and may repeat; the reader sorts them and skips repeats.

A string grows in steps of an eighth of its entries (lua/write.lua), because APPEND alone would
double its memory. The push that makes a string one step too long also cuts it: the entries that
arrived first are removed, and the low-water mark rises above them.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key, keys
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script
from timelines.stores.generation import epoch_in, first_epoch
from timelines.stores.interface import FollowingChange, group_readers
from timelines.types import ENTRY_BYTES, Entry, LiveTimeline, check_entries

_LUA = Path(__file__).with_name("lua")
PUSH = load_script(_LUA / "write.lua", _LUA / "push.lua")
BEGIN_BUILD = load_script(_LUA / "write.lua", _LUA / "begin_build.lua")
FINISH_BUILD = load_script(_LUA / "write.lua", _LUA / "finish_build.lua")
CHANGE_FOLLOWING = load_script(_LUA / "write.lua", _LUA / "change_following.lua")
REMOVE = load_script(_LUA / "write.lua", _LUA / "remove.lua")

FAMILY = "timelines.home:v1"
HEAD = Struct(">IQQ")
LOW_WATER_MARK = Struct(">I")
MARK_AND_VERSION = Struct(">IQ")
AUTHOR = Struct(">I")
EPOCH = Struct(">Q")
BUILDING = 0xFFFFFFFF
ROOM_STEPS = 8


class _StoredTimeline(NamedTuple):
    """Also of a build in progress, or of an earlier generation."""

    timeline: LiveTimeline
    epoch: int


class PackedStore:
    """TimelineStore on Redis strings."""

    def __init__(
        self, max_entries: int, live_s: int, family: str = FAMILY, generation: int = 0
    ) -> None:
        self._family = family
        least = HEAD.size + max_entries * ENTRY_BYTES
        self._sizes = least + max(1, max_entries // ROOM_STEPS) * ENTRY_BYTES, least
        self._ttl_ms = live_s * 1000
        self._generation, self._first_epoch = generation, first_epoch(generation)

    def ask(self, reader_id: int) -> Question[LiveTimeline | None]:
        command = ("GETEX", key(self._family, reader_id), "PX", self._ttl_ms)
        return Question([command], partial(self._decode, reader_id))

    def _decode(self, reader_id: int, replies: Replies) -> LiveTimeline | None:
        reply = replies[0] if replies else None
        stored = decode(self._family, _unpack, reply)
        if stored is None:
            if reply is not None:  # a build would keep what it cannot read
                with suppress(RedisError):
                    self.drop(reader_id)
            return None
        if stored.timeline.complete_from == BUILDING or stored.epoch < self._first_epoch:
            return None
        return stored.timeline

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        replies = redis().run([("GET", key) for key in keys(self._family, reader_ids)])
        asked = zip(reader_ids, replies, strict=True)
        loaded = {reader_id: self._decode(reader_id, [reply]) for reader_id, reply in asked}
        return {
            reader_id: timeline for reader_id, timeline in loaded.items() if timeline is not None
        }

    def find_complete_from(self, reader_id: int) -> int | None:
        head = redis().call("GETRANGE", key(self._family, reader_id), 0, HEAD.size - 1)
        if len(head) < HEAD.size:
            return None
        mark = HEAD.unpack(head)[0]
        return 0 if mark == BUILDING else int(mark)

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        commands = (
            PUSH.on(keys(self._family, readers), *self._sizes, pack(added))
            for readers, added in group_readers(entries, redis().keys_per_script)
        )
        return sum(redis().run_windowed(commands))

    def begin_build(self, reader_id: int, epoch: int) -> None:
        head = HEAD.pack(BUILDING, 0, epoch_in(self._generation, epoch))
        args = (*self._sizes, head, self._ttl_ms)
        redis().call(*BEGIN_BUILD.on([key(self._family, reader_id)], *args))

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        epoch = epoch_in(self._generation, epoch)
        head = HEAD.pack(timeline.complete_from, timeline.following_version, epoch)
        args = (*self._sizes, EPOCH.pack(epoch), head, timeline.data, self._ttl_ms)
        return bool(redis().call(*FINISH_BUILD.on([key(self._family, reader_id)], *args)))

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        author = change.removed_author
        removed = b"" if author is None else AUTHOR.pack(author)
        step = (change.before, change.after, pack(change.added), change.complete_from, removed)
        args = (*self._sizes, *step, change.read_at)
        return bool(redis().call(*CHANGE_FOLLOWING.on([key(self._family, reader_id)], *args)))

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        head = MARK_AND_VERSION.pack(seen.complete_from, seen.following_version)
        args = (*self._sizes, head, pack(entries))
        return bool(redis().call(*REMOVE.on([key(self._family, reader_id)], *args)))

    def drop(self, reader_id: int) -> None:
        self.drop_from_redis([reader_id])

    def drop_from_redis(self, reader_ids: Sequence[int]) -> None:
        redis().run([("DEL", key) for key in keys(self._family, reader_ids)])


def _unpack(data: bytes) -> _StoredTimeline:
    complete_from, version, epoch = HEAD.unpack_from(data)
    entries = check_entries(data[HEAD.size :])
    return _StoredTimeline(LiveTimeline(entries, complete_from, version), epoch)


def pack(entries: Iterable[Entry]) -> bytes:
    return b"".join([entry.packed for entry in entries])
