"""The client of Django's cache: a Redis that hangs costs it no wait of its own."""

from typing import Any

from django_redis.client import DefaultClient  # type: ignore[import-untyped]
from django_redis.exceptions import ConnectionInterrupted  # type: ignore[import-untyped]
from redis.exceptions import RedisError

from infra.caching.client import redis


class BreakerClient(DefaultClient):
    """Asks by the client with the breaker first whether Redis answers. Cost: one round trip more.

    Django's cache ignores ConnectionInterrupted: its read is then a miss.
    """

    def get_next_client_index(self, *args: Any, **kwargs: Any) -> Any:
        """Every use of a connection begins here."""
        try:
            redis().call("PING")
        except RedisError as error:
            raise ConnectionInterrupted(connection=None) from error
        return super().get_next_client_index(*args, **kwargs)
