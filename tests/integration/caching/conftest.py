"""An empty Redis for each test, without databases; and a web process that writes."""

from collections.abc import Iterator

import pytest

from infra.caching.client import FeedRedis, redis
from tests.api_process import ApiProcess
from tests.redis_away import wait_for_redis


@pytest.fixture
def cache() -> Iterator[FeedRedis]:
    wait_for_redis()
    redis().call("FLUSHDB")
    yield redis()
    wait_for_redis()
    redis().call("FLUSHDB")


@pytest.fixture(scope="module")
def other_web(databases: None) -> Iterator[ApiProcess]:
    """Answers API requests in a process of its own."""
    with ApiProcess() as process:
        yield process
