"""The trends of the last run, in Redis.

    timelines.trends:v1     Trends as JSON

Nothing ends the entry early: a post that is deleted or may not be seen is left out of answers.
"""

import msgspec
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from timelines.trends.types import Trends

FAMILY = "timelines.trends:v1"
# Longer than the compensator is away for a restart; then old trends are none.
TTL_S = 3_600
_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(Trends).decode


def keep_trends(trends: Trends) -> None:
    """Raises: RedisError. One round trip."""
    redis().call("SET", key(FAMILY, "site"), _encode(trends), "EX", TTL_S)


def find_trends() -> Trends:
    """Empty before the first run, and while Redis does not answer. One round trip."""
    try:
        kept = redis().call("GET", key(FAMILY, "site"))
    except RedisError:
        return Trends()
    return decode(FAMILY, _decode, kept) or Trends()
