"""A circuit breaker: callers do not wait for a Redis that did not answer a moment ago."""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakMethod

import structlog
from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from infra.telemetry.gauges import process_gauge
from infra.telemetry.reached_branches import reached

OPEN = process_gauge(
    "tideline_redis_breaker_open", "Processes whose last Redis call got no answer", combine="sum"
)
TRIPS = Counter("tideline_redis_breaker_trips_total", "Redis calls without an answer")
log = structlog.get_logger()


class Pauses(NamedTuple):
    """How long recovery waits after its first failed attempt, and at most; it doubles in between.

    A process that has just learned that Redis is back may have something to send that others wait
    for. So the longest pause is part of the promised 100 ms.
    """

    first_s: float = 0.025
    longest_s: float = 0.075


class Breaker:
    """Lets calls through until one fails. Then only its own thread asks Redis, until it succeeds.

    One per process, shared by its threads: a dead or hung server costs them one timeout, not one a
    call. `recover`: one attempt of that thread; it returns whether all calls may go on, and may
    raise RedisError. `go_on`: asked last, with a lock; if it says no, the next attempt is at once.
    The thread ends when the owner of these methods is not used any more.
    """

    def __init__(
        self, recover: Callable[[], bool], go_on: Callable[[], bool], pauses: Pauses
    ) -> None:
        self._recover, self._go_on = WeakMethod(recover), WeakMethod(go_on)
        self._pauses = pauses
        self._changing = threading.Lock()
        self._recovering: threading.Thread | None = None
        self._is_tripped_again = False
        self._opened_at = 0.0

    @property
    def opened_at(self) -> float:
        """When it opened the last time, by the monotonic clock."""
        return self._opened_at

    def is_own_thread(self) -> bool:
        """Whether the caller is the thread that asks Redis."""
        return threading.current_thread() is self._recovering

    def check(self) -> None:
        """Raises RedisConnectionError while the breaker is open. Its own thread may pass."""
        recovering = self._recovering
        if recovering is not None and not self.is_own_thread():
            raise RedisConnectionError("Redis did not answer a moment ago; retried soon")

    def trip(self) -> None:
        """Opens the breaker: a call got no answer."""
        TRIPS.inc()
        with self._changing:
            self._is_tripped_again = True
            self._begin_to_recover()

    def open(self) -> None:
        """Opens the breaker: `go_on` says no, because a call is to be made before all others.

        Unlike `trip` it does not spoil an attempt: under load such calls come all the time.
        """
        with self._changing:
            self._begin_to_recover()

    def _begin_to_recover(self) -> None:
        if self._recovering is None:
            reached("breaker.opened")
            thread = threading.Thread(target=self._run, name="redis_recovery", daemon=True)
            thread.start()
            self._recovering, self._opened_at = thread, time.monotonic()
            OPEN.set(1)

    def _run(self) -> None:
        pause_s = self._pauses.first_s
        while not self._try_to_close():
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, self._pauses.longest_s)

    def _try_to_close(self) -> bool:
        """False: an attempt failed, or a call got no answer since it began."""
        with self._changing:
            self._is_tripped_again = False
        while self._attempt():
            with self._changing:
                if self._is_tripped_again:
                    return False
                if self._may_go_on():
                    self._recovering = None
                    OPEN.set(0)
                    return True
        return False

    def _may_go_on(self) -> bool:
        go_on = self._go_on()
        return go_on is None or go_on()

    def _attempt(self) -> bool:
        try:
            recover = self._recover()
            return recover is None or recover()
        except RedisError:
            return False
        except Exception:
            # The thread must not end: the breaker would be open for good.
            log.exception("breaker.recovery_failed")
            return False
