"""The order of a catch-up that has several pages, in Redis, so that its pages fit together.

    timelines.catch_up:v2:{reader}:{slot}   SLOTS a reader
    bytes  0-7     a digest of the key and of all that follows
           8-53    the bound
           54-55   what is excluded: replies, reposts, each 0 or 1
           56-65   left_below, FIRST if all entries had room
           66-67   together_count
           …       20 bytes an entry

The digest refuses a value that was cut, damaged, or made for another reader: an order without some
of its entries would look like a whole one. An order that is lost is computed again, from what the
timeline has then.
"""

from struct import Struct

import structlog
from redis.exceptions import RedisError
from xxhash import xxh3_64_digest

from infra.caching.client import redis
from infra.caching.keys import key
from posts.ids import FIRST, PostId
from timelines.catch_up.types import Bound, CatchUp, Exclusions
from timelines.types import Entry

FAMILY = "timelines.catch_up:v2"
TTL_S = 21_600
# Of one reader, so that catch-ups that are never ended take little room.
SLOTS = 8
DIGEST_BYTES = 8
HEAD = Struct(">10sH")
log = structlog.get_logger()


def keep_catch_up(reader_id: int, whole: CatchUp, exclusions: Exclusions) -> None:
    """Cost: one round trip. Without Redis nothing is kept."""
    head = HEAD.pack((whole.left_below or FIRST).packed, whole.together_count)
    entries = b"".join(entry.packed for entry in whole.entries)
    name, body = _key(reader_id, whole.bound), _name(whole.bound, exclusions) + head + entries
    try:
        redis().call("SET", name, _digest(name, body) + body, "EX", TTL_S)
    except RedisError as error:
        log.warning("catch_up.not_kept", error=str(error))


def find_catch_up(reader_id: int, bound: Bound, exclusions: Exclusions) -> CatchUp | None:
    """Cost: one round trip."""
    name = _key(reader_id, bound)
    try:
        value = redis().call("GET", name) or b""
    except RedisError as error:
        log.warning("catch_up.not_read", error=str(error))
        return None
    digest, body = value[:DIGEST_BYTES], value[DIGEST_BYTES:]
    start = _name(bound, exclusions)
    if digest != _digest(name, body) or not body.startswith(start):
        return None
    return _decode(bound, body[len(start) :])


def _decode(bound: Bound, value: bytes) -> CatchUp:
    left, together_count = HEAD.unpack_from(value)
    left_below, entries = PostId.from_packed(left), Entry.split(value[HEAD.size :])
    return CatchUp(bound, None if left_below == FIRST else left_below, together_count, entries)


def _key(reader_id: int, bound: Bound) -> bytes:
    return key(FAMILY, reader_id, str(bound.seen_ms % SLOTS))


def _digest(name: bytes, body: bytes) -> bytes:
    return xxh3_64_digest(name + body)


def _name(bound: Bound, exclusions: Exclusions) -> bytes:
    return f"{bound.text}{exclusions.replies:d}{exclusions.reposts:d}".encode()
