"""Spares callers the wait for a Redis that did not answer a moment ago."""

import threading
import time

from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.telemetry.gauges import process_gauge

OPEN_S = 1.0
OPEN = process_gauge(
    "tideline_redis_breaker_open", "Processes that Redis did not answer last", together="sum"
)
TRIPS = Counter("tideline_redis_breaker_trips_total", "Times that Redis did not answer")


class Breaker:
    """Lets calls through until one fails, then one in REST_S, until one succeeds.

    One per process, shared by its threads: a dead or hung server costs them one timeout in REST_S,
    not one a call.
    """

    def __init__(self) -> None:
        self._rests_until = 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises RedisConnectionError instead of letting the caller wait."""
        if self._rests_until:
            self._check_rest()

    def trip(self) -> None:
        """No answer came."""
        self._rests_until = time.monotonic() + OPEN_S
        TRIPS.inc()
        OPEN.set(1)

    def reset(self) -> None:
        """An answer came."""
        if self._rests_until:
            self._rests_until = 0.0
            OPEN.set(0)

    def _check_rest(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now < self._rests_until:
                raise RedisConnectionError("Redis did not answer a moment ago; not asked again yet")
            # The caller goes and asks; the others rest until it knows.
            self._rests_until = now + OPEN_S
