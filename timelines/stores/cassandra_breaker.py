"""A Cassandra that is away: callers do not wait for one that did not answer a moment ago.

Without the driver, so that all processes show the metrics.
"""

import threading
import time

import structlog
from django.db import OperationalError
from prometheus_client import Counter

from infra.telemetry.gauges import process_gauge
from infra.telemetry.reached_branches import reached

PAUSE_S = 1.0
OPEN = process_gauge(
    "tideline_cassandra_breaker_open",
    "Processes whose last call of Cassandra got no answer",
    combine="sum",
)
FAILURES = Counter("tideline_cassandra_failures_total", "Calls of Cassandra without an answer")
FORGOTTEN = Counter(
    "tideline_cassandra_timelines_forgotten_total",
    "Cold timelines that were given up because Cassandra did not take an entry",
)
log = structlog.get_logger()


class CassandraAway(OperationalError):
    """Cassandra is down, hangs, refuses, or lacks the table."""


class CassandraBreaker:
    """After a failure one call in PAUSE_S may try again; the others fail at once."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        # By the monotonic clock. None: the last call got an answer.
        self._next_try_s: float | None = None

    def check(self) -> None:
        """Raises: CassandraAway. A caller that may pass tries for all others."""
        if self._next_try_s is None:
            return
        with self._changing:
            now_s = time.monotonic()
            if self._next_try_s is not None and now_s < self._next_try_s:
                raise CassandraAway("Cassandra did not answer a moment ago")
            self._next_try_s = now_s + PAUSE_S

    def note_failure(self, error: Exception) -> None:
        FAILURES.inc()
        with self._changing:
            if self._next_try_s is None:
                reached("cassandra.away")
                log.warning("cassandra.away", error=str(error))
            self._next_try_s = time.monotonic() + PAUSE_S
        OPEN.set(1)

    def note_answer(self) -> None:
        if self._next_try_s is not None:
            with self._changing:
                self._next_try_s = None
            OPEN.set(0)
            log.info("cassandra.back")
