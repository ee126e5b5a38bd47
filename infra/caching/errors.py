"""Errors of a Redis that is out of reach, and of loads that take too long."""

from django.db import OperationalError
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


class LoadTooSlow(OperationalError):
    """Other threads load the entry, and none of them has ended within all waits. It is a 503."""

    def __init__(self, family: str) -> None:
        super().__init__(f"{family}: other threads load the entry for too long")
