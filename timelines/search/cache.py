"""The posts that a search found on all shards, for a few seconds: many ask for the same words.

    timelines.search:v1:{digest of the search}   the ids, newest first, 10 bytes each

Nothing ends an entry early. A post that is deleted or hidden in the meantime, or that the viewer
may not see, is left out when the posts are loaded; a new one is found when the entry is over.
"""

from collections.abc import Iterable

import structlog
from redis.exceptions import RedisError
from xxhash import xxh3_128_hexdigest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from posts.ids import PACKED_BYTES, PostId, unpack_ids
from posts.queries.search import WordSearch

FAMILY = "timelines.search:v1"
TTL_S = 3
log = structlog.get_logger()


def ask_hits(search: WordSearch) -> Question[list[PostId] | None]:
    """What this search found. None: Redis does not have it. Cost: one command."""
    return Question([("GET", _key(search))], _decode)


def keep_hits(search: WordSearch, ids: Iterable[PostId]) -> None:
    """`ids`: of all shards. Cost: one round trip. Without Redis nothing is kept."""
    value = b"".join(post_id.packed for post_id in ids)
    try:
        redis().call("SET", _key(search), value, "EX", TTL_S)
    except RedisError as error:
        log.warning("search.not_kept", error=str(error))


def _decode(replies: Replies) -> list[PostId] | None:
    value = replies[0] if replies else None
    if value is None or len(value) % PACKED_BYTES:
        return None
    return unpack_ids(value)


def _key(search: WordSearch) -> bytes:
    return key(FAMILY, xxh3_128_hexdigest(repr(search).encode()))
