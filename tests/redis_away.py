"""The moment at which this process uses Redis again, after a test made it seem away."""

from infra.caching.client import redis
from tests.waiting import until


def wait_for_redis() -> None:
    """Until the breaker is closed, and nothing is left that waits to be sent."""
    until(lambda: redis()._breaker._recovering is None)
