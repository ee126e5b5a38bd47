"""This process loses Redis in a test, and uses it again."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.client import redis
from infra.caching.cluster import ClusterClient
from infra.caching.single import SingleClient
from tests.waiting import until


@contextmanager
def redis_away() -> Iterator[None]:
    """Each call fails at once. No breaker opens, so the first call after the block succeeds."""
    with (
        patch.object(SingleClient, "run", side_effect=RedisConnectionError),
        patch.object(ClusterClient, "run", side_effect=RedisConnectionError),
    ):
        yield


def wait_for_redis() -> None:
    """Until the breaker is closed, and nothing is left that waits to be sent."""
    until(lambda: redis()._breaker._recovering is None)
