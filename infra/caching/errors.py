"""Errors of a Redis that is out of reach."""

from redis.exceptions import ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError


class RedisRefuses(RedisConnectionError):
    """Redis answers, and accepts no writes: too few of its replicas or its disk do not answer, or a
    script takes too long. What was changed since cannot be removed from it, so it counts as away.
    """


# Redis does not answer, or refuses all writes.
REDIS_AWAY = (
    RedisConnectionError,
    RedisTimeoutError,
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
)
