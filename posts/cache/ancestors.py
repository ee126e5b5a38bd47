"""The cache of the posts above a reply. What a post answers never changes, so no change ends it.

posts.ancestors:v1:{author}:moment   the ids, the nearest first, 10 bytes each
"""

from collections.abc import Sequence

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import jittered_ms, key
from infra.caching.questions import Question, Replies
from posts.ids import PACKED_BYTES, PostId, unpack_ids

FAMILY = "posts.ancestors:v1"
TTL_S = 86_400
log = structlog.get_logger()


def ask_ancestors(post_id: PostId) -> Question[list[PostId] | None]:
    """The ancestors, also deleted ones; none of a post that is no reply. None: Redis lacks them."""
    return Question([("GET", _key(post_id))], _decode)


def keep_ancestors(post_id: PostId, ancestors: Sequence[PostId]) -> None:
    """`ancestors`: up to the root. Cost: one round trip. Without Redis nothing is kept."""
    value = b"".join(ancestor.packed for ancestor in ancestors)
    try:
        redis().call("SET", _key(post_id), value, "PX", jittered_ms(TTL_S))
    except RedisError as error:
        log.warning("ancestors.not_kept", error=str(error))


def _decode(replies: Replies) -> list[PostId] | None:
    value = replies[0] if replies else None
    if value is None or len(value) % PACKED_BYTES:
        return None
    return unpack_ids(value)


def _key(post_id: PostId) -> bytes:
    return key(FAMILY, post_id.author_id, post_id.moment)
