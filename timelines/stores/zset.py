"""A home timeline as a sorted set that redis-cli can show: the usual layout, for comparison.

    timelines.zset:v1:{reader}          event → its second; and the build's name at score -1
    timelines.zset:v1:{reader}:sources  post → the reposts that show it; and the build's name
    timelines.zset:v1:{reader}:head     complete_from ("building"), version, build

Ids are base36 (posts/ids.py), so members of equal score are in page order. All three keys carry
the name of the same build. So a key that was evicted and then created again by a push is detected.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError

from infra.api import base36
from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script
from posts.ids import PostId
from timelines.stores.generation import epoch_in
from timelines.stores.interface import FollowingChange, group_readers
from timelines.types import Entry, LiveTimeline

_LUA = Path(__file__).with_name("lua")
READ = load_script(_LUA / "zset_read.lua")
PUSH = load_script(_LUA / "zset_push.lua")
BEGIN_BUILD = load_script(_LUA / "zset_begin_build.lua")
FINISH_BUILD = load_script(_LUA / "zset_finish_build.lua")
CHANGE_FOLLOWING = load_script(_LUA / "zset_change_following.lua")
REMOVE = load_script(_LUA / "zset_remove.lua")

FAMILY = "timelines.zset:v1"
BUILDING = b"building"
KEEP_TTL = 0


class ZsetStore:
    """TimelineStore on sorted sets."""

    def __init__(self, max_entries: int, live_s: int, generation: int = 0) -> None:
        self._max_entries = max_entries
        self._ttl_ms = live_s * 1000
        self._generation = generation

    def ask(self, reader_id: int) -> Question[LiveTimeline | None]:
        command = READ.on(_keys(reader_id), self._ttl_ms, self._generation)
        return Question([command], partial(self._decode, reader_id))

    def _decode(self, reader_id: int, replies: Replies) -> LiveTimeline | None:
        reply = replies[0] if replies else None
        timeline = decode(FAMILY, _unpack, reply)
        if timeline is None and reply is not None:  # a build would keep what it cannot read
            with suppress(RedisError):
                self.drop(reader_id)
        return timeline

    def peek(self, reader_ids: Sequence[int]) -> dict[int, LiveTimeline]:
        replies = redis().run(
            [READ.on(_keys(reader_id), KEEP_TTL, self._generation) for reader_id in reader_ids]
        )
        asked = zip(reader_ids, replies, strict=True)
        loaded = {reader_id: self._decode(reader_id, [reply]) for reader_id, reply in asked}
        return {
            reader_id: timeline for reader_id, timeline in loaded.items() if timeline is not None
        }

    def find_complete_from(self, reader_id: int) -> int | None:
        mark = redis().call("HGET", _keys(reader_id)[2], "complete_from")
        return mark if mark is None else 0 if mark == BUILDING else int(mark)

    def push(self, entries: Mapping[int, Sequence[Entry]]) -> int:
        size = max(1, redis().keys_per_script // 3)  # a reader has three
        commands = (
            PUSH.on(
                [k for reader in readers for k in _keys(reader)], self._max_entries, _text(added)
            )
            for readers, added in group_readers(entries, size)
        )
        return sum(redis().run_windowed(commands))

    def begin_build(self, reader_id: int, epoch: int) -> None:
        redis().call(
            *BEGIN_BUILD.on(
                _keys(reader_id), _build(epoch_in(self._generation, epoch)), self._ttl_ms
            )
        )

    def finish_build(self, reader_id: int, epoch: int, timeline: LiveTimeline) -> bool:
        entries = _text(Entry.split(timeline.data))
        build = _build(epoch_in(self._generation, epoch))
        args = (build, timeline.complete_from, timeline.following_version, self._ttl_ms)
        return bool(redis().call(*FINISH_BUILD.on(_keys(reader_id), *args, entries)))

    def change_following(self, reader_id: int, change: FollowingChange) -> bool:
        author = change.removed_author
        removed = "" if author is None else base36.encode(author, 6)
        step = (change.before, change.after, _text(change.added), change.complete_from, removed)
        args = (*step, change.read_at)
        return bool(redis().call(*CHANGE_FOLLOWING.on(_keys(reader_id), *args)))

    def remove(self, reader_id: int, seen: LiveTimeline, entries: Sequence[Entry]) -> bool:
        args = (seen.complete_from, seen.following_version, _text(entries))
        return bool(redis().call(*REMOVE.on(_keys(reader_id), *args)))

    def drop(self, reader_id: int) -> None:
        self.drop_from_redis([reader_id])

    def drop_from_redis(self, reader_ids: Sequence[int]) -> None:
        redis().run([("DEL", *_keys(reader_id)) for reader_id in reader_ids])


def _keys(reader_id: int) -> tuple[bytes, bytes, bytes]:
    """The sorted set, its sources, its head."""
    parts = key(FAMILY, reader_id, "sources"), key(FAMILY, reader_id, "head")
    return key(FAMILY, reader_id), *parts


def _build(epoch: int) -> str:
    """The build's name, which no entry can have."""
    return f"build {epoch:016x}"


def _text(entries: Iterable[Entry]) -> str:
    """28 characters an entry: the event, then the original."""
    return "".join([event.base36 + original.base36 for event, original in entries])


def _unpack(reply: Any) -> LiveTimeline:
    (mark, version), events, sources = reply
    shown = _originals(sources)
    entries = sorted(_packed(event, shown.get(event, event)) for event in events)
    return LiveTimeline.of(entries, int(mark), int(version))


def _originals(sources: Sequence[bytes]) -> dict[bytes, bytes]:
    """Event → original, from the fields and values of the hash."""
    pairs = zip(sources[::2], sources[1::2], strict=True)
    return {event: original for original, events in pairs for event in events.split()}


def _packed(event: bytes, original: bytes) -> bytes:
    packed = PostId.from_base36(event.decode()).packed
    return packed + (packed if event is original else PostId.from_base36(original.decode()).packed)
