"""A rate that all processes keep together: so many steps a second, and few at once.

    infra.rate:v1:{name}   when the next step is due, in µs since 1970

The generic cell rate algorithm (as in redis-cell): a step that is refused does not count.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from redis.exceptions import RedisError

from infra.caching.client import load_script, redis
from infra.caching.keys import key

TAKE = load_script(Path(__file__).with_name("lua") / "rate_take.lua")
FAMILY = "infra.rate:v1"
BURST_S = 0.1  # how far ahead of the rate steps may be


class LocalRate:
    """The same within one process. `clock`: seconds."""

    def __init__(self, interval_s: float, early_s: float, clock: Callable[[], float]) -> None:
        self._interval_s, self._early_s, self._clock = interval_s, early_s, clock
        self._due = 0.0
        self._lock = threading.Lock()

    def take(self) -> float:
        """0.0: go; else seconds to wait."""
        with self._lock:
            now = self._clock()
            due = max(now, self._due)
            early_s = due - now - self._early_s
            if early_s > 0:
                return early_s
            self._due = due + self._interval_s
            return 0.0


class Rate:
    """`per_s` steps a second over all processes, a tenth of a second's worth at once.

    Without Redis each process keeps the rate for itself.
    """

    def __init__(
        self, name: str, per_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        interval_s = 1 / per_s
        early_s = max(0.0, BURST_S - interval_s)
        self._key = key(FAMILY, name)
        self._steps_us = (round(interval_s * 1e6), round(early_s * 1e6))
        self._local = LocalRate(interval_s, early_s, clock)

    def take(self) -> float:
        """0.0: go; else seconds to wait. Cost: one round trip."""
        try:
            wait_us: int = redis().call(*TAKE.on([self._key], *self._steps_us))
        except RedisError:
            return self._local.take()
        return wait_us / 1e6
