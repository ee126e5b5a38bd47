"""The thread that receives invalidations from other processes. It starts with the first copy.

Without a connection no message arrives, and the age limit is the only thing that ends a copy. So
all copies are dropped when a connection is lost, and again when a new one is subscribed.
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

# After this silence the connection is tested with a PING, and closed if that gets no answer.
SILENCE_S = 5.0
# Between two attempts. Random, so that processes do not all reconnect at once.
RETRY_S = (0.5, 1.5)
RECEIVED = Counter(
    "tideline_cache_invalidations_total", "Invalidations received from other processes", ["outcome"]
)
LISTENING = process_gauge(
    "tideline_cache_listening", "Processes that receive invalidations", combine="sum"
)
log = structlog.get_logger()


class InvalidationListener(BackgroundThread):
    """Started by the first copy that this process stores; `start` is called with every copy."""

    name = "listener"

    def __init__(self) -> None:
        self._connection: Any = None
        super().__init__()

    def reset(self) -> None:
        """In a forked process this closes only the copy of the socket; the parent still listens."""
        if self._connection is not None:
            self._connection.disconnect()
        super().reset()
        self._connection, self._is_disconnected = None, False
        LISTENING.set(0)

    def run(self) -> None:
        while True:
            try:
                self._listen()
            except Exception as error:
                self._handle_disconnect(error)
            time.sleep(random.uniform(*RETRY_S))

    def _listen(self) -> None:
        """Never returns. Raises what ended the connection."""
        connection: Any = redis().open_connection()
        self._connection = connection
        try:
            connection.connect()
            connection.send_command("SUBSCRIBE", channel())
            while True:
                _handle_reply(_next_reply(connection))
                self._is_disconnected = False
        finally:
            connection.disconnect()

    def _handle_disconnect(self, error: Exception) -> None:
        """Once per outage: copies that are stored during it end by age."""
        if self._is_disconnected:
            return
        self._is_disconnected = True
        log.warning("listener.disconnected", error=str(error))
        RECEIVED.labels("lost").inc()
        LISTENING.set(0)
        forget_all_copies()


def _next_reply(connection: Any) -> list[Any]:
    """Waits without a limit. Raises RedisConnectionError when a PING gets no answer."""
    if not connection.can_read(timeout=SILENCE_S):
        connection.send_command("PING")
        if not connection.can_read(timeout=SILENCE_S):
            raise RedisConnectionError("no message and no answer to PING")
    reply: list[Any] = connection.read_response()
    return reply


def _handle_reply(reply: list[Any]) -> None:
    """A reply is an invalidation, the confirmation of the subscription, or an answer to PING."""
    kind = reply[0]
    if kind == b"message":
        RECEIVED.labels("received").inc()
        receive_invalidation(reply[2])
    elif kind == b"subscribe":
        LISTENING.set(1)
        forget_all_copies()


LISTENER = InvalidationListener()
