"""The order of a catch-up that has several pages, in Redis, so that its pages fit together.

    timelines.catch_up:v1:{reader}:{slot}   SLOTS a reader
    bytes  0-45    the bound
           46-47   what is excluded: replies, reposts, each 0 or 1
           48-57   left_below, FIRST if all entries had room
           58-59   together_count
           …       20 bytes an entry

An order that is lost is computed again, from what the timeline has then.
"""

from struct import Struct

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key
from posts.ids import FIRST, PostId
from timelines.catch_up.types import Bound, CatchUp, Exclusions
from timelines.types import ENTRY_BYTES, Entry, check_entries

FAMILY = "timelines.catch_up:v1"
TTL_S = 21_600
# Of one reader, so that catch-ups that are never ended take little room.
SLOTS = 8
HEAD = Struct(">10sH")
log = structlog.get_logger()


def keep_catch_up(reader_id: int, whole: CatchUp, exclusions: Exclusions) -> None:
    """Cost: one round trip. Without Redis nothing is kept."""
    head = HEAD.pack((whole.left_below or FIRST).packed, whole.together_count)
    entries = b"".join(entry.packed for entry in whole.entries)
    value = _name(whole.bound, exclusions) + head + entries
    try:
        redis().call("SET", _key(reader_id, whole.bound), value, "EX", TTL_S)
    except RedisError as error:
        log.warning("catch_up.not_kept", error=str(error))


def find_catch_up(reader_id: int, bound: Bound, exclusions: Exclusions) -> CatchUp | None:
    """Cost: one round trip."""
    try:
        value = redis().call("GET", _key(reader_id, bound)) or b""
    except RedisError as error:
        log.warning("catch_up.not_read", error=str(error))
        return None
    name = _name(bound, exclusions)
    return _decode(bound, value[len(name) :]) if value.startswith(name) else None


def _decode(bound: Bound, value: bytes) -> CatchUp | None:
    """None if another program wrote the value."""
    entries = value[HEAD.size :]
    if len(value) < HEAD.size or len(entries) % ENTRY_BYTES:
        return None
    try:
        check_entries(entries)
    except ValueError:
        return None
    left, together_count = HEAD.unpack_from(value)
    left_below = PostId.from_packed(left)
    return CatchUp(
        bound, None if left_below == FIRST else left_below, together_count, Entry.split(entries)
    )


def _key(reader_id: int, bound: Bound) -> bytes:
    return key(FAMILY, reader_id, str(bound.seen_ms % SLOTS))


def _name(bound: Bound, exclusions: Exclusions) -> bytes:
    return f"{bound.text}{exclusions.replies:d}{exclusions.reposts:d}".encode()
