"""An empty Redis for each test; no databases."""

from collections.abc import Iterator

import pytest

from infra.caching.client import FeedRedis, redis
from tests.redis_away import wait_for_redis


@pytest.fixture
def cache() -> Iterator[FeedRedis]:
    wait_for_redis()
    redis().call("FLUSHDB")
    yield redis()
    wait_for_redis()
    redis().call("FLUSHDB")
