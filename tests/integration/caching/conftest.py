"""An empty Redis for each test; no databases."""

from collections.abc import Iterator

import pytest

from infra.caching.client import FeedRedis, redis


@pytest.fixture
def cache() -> Iterator[FeedRedis]:
    redis().call("FLUSHDB")
    yield redis()
    redis().call("FLUSHDB")
