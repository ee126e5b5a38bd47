"""The thread that receives invalidations from other processes. It starts with the first copy.

Without a connection no message arrives, and the age limit is the only thing that ends a copy. So
all copies are dropped when a connection is lost, and again when a new one is subscribed. While
copies are read, the thread asks for proofs that it has received all messages (copy_ages.py).
"""

import random
import time
from typing import Any

import structlog
from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from infra.background import BackgroundThread
from infra.caching.client import redis
from infra.caching.invalidation import channel, forget_all_copies, receive_invalidation
from infra.caching.server_identity import on_other_server
from infra.telemetry.gauges import process_gauge

# After this silence the connection is tested with a PING, and closed if that gets no answer.
SILENCE_S = 5.0
# How often a PING asks for a proof, and how long a proof is valid: pages may be a second behind.
PROOF_EVERY_S, PROVED_S = 0.25, 1.0
# After the last read of copies; by then most of them are too old.
WANTED_S = 30.0
# Between two attempts. Random, so that processes do not all reconnect at once.
RETRY_S = (0.5, 1.5)
RECEIVED = Counter(
    "tideline_cache_invalidations_total", "Invalidations received from other processes", ["outcome"]
)
PROOFS = Counter(
    "tideline_cache_proofs_total", "Proofs that all invalidations before a moment were received"
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
        self._connection, self._is_disconnected, self._is_outdated = None, False, False
        # Of the monotonic clock: until when all messages were received, and the last question.
        self._proved_at = self._wanted_at = float("-inf")
        LISTENING.set(0)

    def has_all(self, now: float) -> bool:
        """Whether this process has all invalidations from before the last PROVED_S.

        `now`: of the monotonic clock. Cost: none; the thread asks for proofs while it is called.
        """
        self._wanted_at = now
        return self._proved_at > now - PROVED_S

    def has_all_since(self, moment: float) -> bool:
        """Whether this process has all invalidations from before `moment`, of the same clock."""
        return self._proved_at > moment

    def renew(self) -> None:
        """The writers use another server now, and this connection may be to the one before."""
        self._proved_at, self._is_outdated = float("-inf"), True

    def run(self) -> None:
        while True:
            try:
                self._listen()
            except Exception as error:
                self._handle_disconnect(error)
            time.sleep(random.uniform(*RETRY_S))

    def _listen(self) -> None:
        """Never returns. Raises what ended the connection."""
        self._is_outdated = False
        connection: Any = redis().open_connection()
        self._connection = connection
        try:
            connection.connect()
            connection.send_command("SUBSCRIBE", channel())
            self._receive_all(connection, _Pings(connection))
        finally:
            self._proved_at = float("-inf")
            connection.disconnect()

    def _receive_all(self, connection: Any, pings: "_Pings") -> None:
        has_proofs = redis().has_ordered_messages
        while not self._is_outdated:
            now = time.monotonic()
            is_wanted = has_proofs and self._wanted_at > now - WANTED_S
            pings.send_when_due(now, PROOF_EVERY_S if is_wanted else SILENCE_S)
            if not connection.can_read(timeout=PROOF_EVERY_S):
                continue
            reply = connection.read_response()
            _handle_reply(reply)
            self._is_disconnected = False
            if reply[0] == b"pong":
                self._prove(pings.answered(), has_proofs)
        raise RedisConnectionError("the process has another Redis server now")

    def _prove(self, asked_at: float, has_proofs: bool) -> None:
        """A Redis that refuses writes publishes nothing for them, and answers a PING."""
        if has_proofs and _accepts_writes():
            self._proved_at = asked_at
            PROOFS.inc()

    def _handle_disconnect(self, error: Exception) -> None:
        """Once per outage: copies that are stored during it end by age."""
        if self._is_disconnected:
            return
        self._is_disconnected = True
        log.warning("listener.disconnected", error=str(error))
        RECEIVED.labels("lost").inc()
        LISTENING.set(0)
        forget_all_copies()


def _accepts_writes() -> bool:
    """Cost: one round trip."""
    try:
        redis().check_accepts()
    except RedisError:
        return False
    return True


class _Pings:
    """The PINGs of one connection; one at a time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._sent_at, self._is_open = time.monotonic(), False

    def send_when_due(self, now: float, every_s: float) -> None:
        """Sends one, `every_s` after the last. Raises RedisConnectionError for a late answer."""
        if self._is_open and now - self._sent_at > SILENCE_S:
            raise RedisConnectionError("no answer to PING")
        if not self._is_open and now - self._sent_at >= every_s:
            self._sent_at, self._is_open = now, True
            self._connection.send_command("PING")

    def answered(self) -> float:
        """When the PING was sent that has an answer now."""
        self._is_open = False
        return self._sent_at


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
on_other_server(LISTENER.renew)
