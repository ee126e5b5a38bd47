"""Errors of a Redis that is out of reach."""

from redis.exceptions import ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

# Redis does not answer, or refuses all writes.
REDIS_AWAY = (
    RedisConnectionError,
    RedisTimeoutError,
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
)
