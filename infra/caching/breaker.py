"""A circuit breaker: callers do not wait for a Redis that did not answer a moment ago."""

import threading
import time

from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.telemetry.gauges import process_gauge

OPEN_S = 1.0
OPEN = process_gauge(
    "tideline_redis_breaker_open", "Processes whose last Redis call got no answer", combine="sum"
)
TRIPS = Counter("tideline_redis_breaker_trips_total", "Redis calls that got no answer")


class Breaker:
    """Lets calls through until one fails, then one in REST_S, until one succeeds.

    One per process, shared by its threads: a dead or hung server costs them one timeout in REST_S,
    not one a call.
    """

    def __init__(self) -> None:
        self._open_until = 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises RedisConnectionError while the breaker is open."""
        if self._open_until:
            self._check_open()

    def trip(self) -> None:
        """Opens the breaker: a call got no answer."""
        self._open_until = time.monotonic() + OPEN_S
        TRIPS.inc()
        OPEN.set(1)

    def reset(self) -> None:
        """Closes the breaker: a call was answered."""
        if self._open_until:
            self._open_until = 0.0
            OPEN.set(0)

    def _check_open(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                raise RedisConnectionError("Redis did not answer a moment ago; retried soon")
            # This caller tries; the other threads fail at once until it has an answer.
            self._open_until = now + OPEN_S
