"""The one thread of a process that hears what others changed, from the first copy it holds on.

While it has no connection nothing is heard, and copies are only as good as their age. So whenever
a connection is lost, and again when a new one is subscribed, all copies are dropped.
"""

import random
import time
from typing import Any

import structlog
from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.background import BackgroundThread
from infra.caching.client import redis
from infra.caching.invalidation import channel, forget_all_copies, receive_invalidation
from infra.telemetry.gauges import process_gauge

# A connection that says nothing for so long is asked whether it is one, and then given up.
SILENCE_S = 5.0
# Between two attempts, each process at a time of its own.
RETRY_S = (0.5, 1.5)
RECEIVED = Counter(
    "tideline_cache_invalidations_total", "Changes heard from other processes", ["outcome"]
)
LISTENING = process_gauge(
    "tideline_cache_listening", "How many processes hear of changes", together="sum"
)
log = structlog.get_logger()


class InvalidationListener(BackgroundThread):
    """Started by the first cached copy of this process."""

    name = "listener"

    def reset(self) -> None:
        sock = getattr(getattr(self, "_connection", None), "_sock", None)
        if sock is not None:
            # Closes only this process's copy of the socket: the parent still receives.
            sock.close()
        super().reset()
        self._connection: Any = None
        self._is_disconnected = False
        LISTENING.set(0)

    def run(self) -> None:
        while True:
            try:
                self._listen()
            except Exception as error:
                self._handle_disconnect(error)
            time.sleep(random.uniform(*RETRY_S))

    def _listen(self) -> None:
        """Returns never. Raises what ended the connection."""
        connection: Any = redis().open_connection()
        self._connection = connection
        try:
            connection.connect()
            connection.send_command("SUBSCRIBE", channel())
            while True:
                _take(_next_reply(connection))
                self._is_disconnected = False
        finally:
            connection.disconnect()

    def _handle_disconnect(self, error: Exception) -> None:
        """Once, however long Redis is away: copies made meanwhile end by age."""
        if self._is_disconnected:
            return
        self._is_disconnected = True
        log.warning("listener.disconnected", error=str(error))
        RECEIVED.labels("lost").inc()
        LISTENING.set(0)
        forget_all_copies()


def _next_reply(connection: Any) -> list[Any]:
    """Waits for as long as it takes. Raises RedisConnectionError when nobody is there."""
    if not connection.can_read(timeout=SILENCE_S):
        connection.send_command("PING")
        if not connection.can_read(timeout=SILENCE_S):
            raise RedisConnectionError("nothing heard, not even an answer")
    reply: list[Any] = connection.read_response()
    return reply


def _take(reply: list[Any]) -> None:
    """By kind: what was changed, that messages come from now on, or an answer to PING."""
    kind = reply[0]
    if kind == b"message":
        RECEIVED.labels("received").inc()
        receive_invalidation(reply[2])
    elif kind == b"subscribe":
        LISTENING.set(1)
        forget_all_copies()


LISTENER = InvalidationListener()
