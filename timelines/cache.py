"""The cache of the public timeline. Live home timelines are in stores/.

    timelines.public:v2          the list, at most TTL_S old
    timelines.public_before:v1   the last list that was read from the shards, kept for a day

list   8 bytes    when it was read, in ms since 1970
       18 bytes   a post, newest first: its id (10) and since when it is on the list (8)
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple, Self

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import Question
from infra.caching.scripts import load_script
from infra.caching.values import ValueCache, Versioned
from posts.ids import PostId
from timelines.recent.queries.public_posts import list_newest_public

# The public timeline is at most this old. It is shown while one process reads it again.
TTL_S = 10
BEFORE_S = 86_400
# The newest posts that are read, and the public ones of them that are listed.
NEWEST, MOST_LISTED = 1_200, 400
# The cache has one owner.
ALL_AUTHORS = 0
BEFORE = key("timelines.public_before:v1", ALL_AUTHORS)
KEEP = load_script(Path(__file__).parent / "recent" / "lua" / "keep_newer_list.lua")
_AT, _LISTED = Struct(">Q"), Struct(">IIHQ")
log = structlog.get_logger()


class PublicList(NamedTuple):
    """Public posts, newest first, each with the time since when it is on the list, in ms.

    That is an order of arrival: a post that was not on the list `at_ms` has a later time. Without a
    list before, it is the visible time of the post on the shard that was read (ADR 0034).
    """

    at_ms: int
    listed: Mapping[PostId, int]

    @property
    def packed(self) -> bytes:
        return _AT.pack(self.at_ms) + b"".join(
            [_LISTED.pack(*post_id, since) for post_id, since in self.listed.items()]
        )

    @classmethod
    def from_packed(cls, data: bytes) -> Self:
        """Empty if another program wrote the data; the next list takes its place."""
        if len(data) % _LISTED.size != _AT.size:
            return cls(0, {})
        rows = _LISTED.iter_unpack(data[_AT.size :])
        return cls(_AT.unpack_from(data)[0], {PostId(*row[:3]): row[3] for row in rows})


def ask_public_list() -> Question[PublicList]:
    """At most MOST_LISTED public posts. Cost: at most one command when warm."""
    asked = public_ids.ask(public_ids.hot.split([ALL_AUTHORS]))
    return asked.then(lambda lists: PublicList.from_packed(lists.get(ALL_AUTHORS, b"")))


def _load(owners: Sequence[int]) -> Mapping[int, Versioned]:
    before = _find_before()
    posts = _read(before)
    try:
        redis().call(*KEEP.on([BEFORE], posts.packed, BEFORE_S))
    except RedisError as error:
        log.warning("public_list.not_kept", error=str(error))
        _shown_without_redis[ALL_AUTHORS] = posts
        redis().run_before_next_use(_bring_shown)
    return {owner: Versioned(posts.at_ms, posts.packed) for owner in owners}


def _bring_shown(_: Sequence[None]) -> None:
    """The list in Redis may be older, and lack posts that this process has shown without Redis."""
    shown = _shown_without_redis[ALL_AUTHORS]
    keep = KEEP.on([BEFORE], shown.packed, BEFORE_S)
    public_ids.refresh({ALL_AUTHORS: Versioned(shown.at_ms, shown.packed)}, [keep])


def _find_before() -> PublicList | None:
    try:
        packed = redis().call("GET", BEFORE)
    except RedisError:
        return None
    before = PublicList.from_packed(packed or b"")
    return before if before.at_ms else None


def _read(before: PublicList | None) -> PublicList:
    """The list of now. Posts stay on it until newer ones fill it, also if another shard is read."""
    at_ms = int(time.time() * 1000)
    if before is None:
        newest = list_newest_public(NEWEST, {})
        return PublicList(at_ms, dict(list(newest.items())[:MOST_LISTED]))
    at_ms = max(at_ms, before.at_ms + 1)
    newest = list_newest_public(NEWEST, before.listed)
    listed = {i: before.listed.get(i, at_ms) for i in list(newest)[:MOST_LISTED]}
    return PublicList(at_ms, listed)


def _is_packed(payload: bytes) -> bool:
    return len(payload) % _LISTED.size == _AT.size


_shown_without_redis: dict[int, PublicList] = {}
public_ids = ValueCache("timelines.public:v2", TTL_S, _load, _is_packed)
