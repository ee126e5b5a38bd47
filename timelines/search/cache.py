"""The posts that a search found on all shards, for a few seconds: many ask for the same words.

    timelines.search:v2:{digest of the search}   8 bytes: when it was found, in s since 1970
                                                 the ids, newest first, 10 bytes each

Nothing ends an entry early, but a clock that went back: its key is kept until the clock is there
again. A post that is deleted or hidden in the meantime, or that the viewer
may not see, is left out when the posts are loaded; a new one is found when the entry is over.
"""

import time
from collections.abc import Iterable
from struct import Struct

import structlog
from redis.exceptions import RedisError
from xxhash import xxh3_128_hexdigest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from posts.ids import PACKED_BYTES, PostId, unpack_ids
from posts.queries.search import WordSearch

FAMILY = "timelines.search:v2"
TTL_S = 3
# Clocks of web servers differ by less.
SKEW_S = 60
_AT = Struct(">Q")
log = structlog.get_logger()


def ask_hits(search: WordSearch) -> Question[list[PostId] | None]:
    """What this search found. None: Redis does not have it. Cost: one command."""
    return Question([("GET", _key(search))], _decode)


def keep_hits(search: WordSearch, ids: Iterable[PostId]) -> None:
    """`ids`: of all shards. Cost: one round trip. Without Redis nothing is kept."""
    value = _AT.pack(int(time.time())) + b"".join(post_id.packed for post_id in ids)
    try:
        redis().call("SET", _key(search), value, "EX", TTL_S)
    except RedisError as error:
        log.warning("search.not_kept", error=str(error))


def _decode(replies: Replies) -> list[PostId] | None:
    value = replies[0] if replies else None
    if value is None or len(value) % PACKED_BYTES != _AT.size:
        return None
    is_now = abs(time.time() - _AT.unpack_from(value)[0]) < TTL_S + SKEW_S
    return unpack_ids(value[_AT.size :]) if is_now else None


def _key(search: WordSearch) -> bytes:
    return key(FAMILY, xxh3_128_hexdigest(repr(search).encode()))
