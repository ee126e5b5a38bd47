"""One Redis server, as long as it accepts writes.

A Redis that answers reads and refuses writes cannot forget what an account has just taken out. A
process that only reads would never learn of it, and would show it for as long as that lasts. So a
process uses what it reads only if the server has accepted a write of this process at most
ACCEPTED_S before. The write goes out with commands that are sent anyway: one for each process,
server and ACCEPTED_S. A writer that cannot remove something waits until all older permissions have
ended (client.py).
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from redis.connection import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connection import (
    Command,
    PipelinedConnection,
    connection_options,
    open_socket,
)
from infra.caching.errors import RedisRefuses
from infra.caching.server_identity import KnownServer
from infra.caching.slot_origins import vouch_for
from infra.read_limits import ACCEPTED_S
from infra.telemetry.reached_branches import reached

# A write that changes nothing. It is refused whenever any write is: a script that names no flags
# may write and needs memory. It has no key, so each node of a cluster takes it.
WRITE: Command = ("EVAL", "#!lua\nreturn 1", 0)


class TripPart(NamedTuple):
    """What one server gets of a round trip with several (joint_trips.py).

    `accept`: gets the reply to the WRITE at the end of the commands. None: no WRITE is due.
    """

    connection: PipelinedConnection
    commands: Sequence[Command]
    accept: Callable[[Any], None] | None


class ConnectedServer:
    """A connection for each thread, and what they know together."""

    def __init__(self, pool: ConnectionPool, rests_s: float = 0.0) -> None:
        """`rests_s`: after a call without an answer all calls fail at once for so long."""
        options = connection_options(pool)
        self._open = partial(open_socket, options)
        self._server = KnownServer()
        self._database = int(options.get("db") or 0)
        self._greet = partial(self._server.greet, self._database)
        # Of a node of a cluster: those that it has, and those that it was used with.
        self.slots: frozenset[int] | None = None
        self._vouched_for: frozenset[int] | None = None
        self._vouching = threading.Lock()
        # How long an answer may take.
        self.timeout_s: float | None = options.get("socket_timeout")
        self._local = threading.local()
        # When the last write that was accepted was sent, by the monotonic clock.
        self._accepted_at = float("-inf")
        self._rests_s, self._rests_until = rests_s, float("-inf")

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when the server is away.

        Also when it refuses writes; then it may have run the commands all the same.
        """
        asked_at = time.monotonic()
        if asked_at < self._accepted_at + ACCEPTED_S:
            return self._exchange(commands)
        replies = self._exchange([*commands, WRITE])
        self._receive(replies.pop(), asked_at)
        return replies

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        try:
            return self._connection().exchange(commands)
        except (RedisConnectionError, RedisTimeoutError):
            self.avoid()
            raise

    def avoid(self) -> None:
        """It did not answer."""
        if time.monotonic() >= self._rests_until:  # a refusal because of a rest is not another one
            self._rests_until = time.monotonic() + self._rests_s

    def part(self, commands: Sequence[Command]) -> TripPart:
        """What this server gets of a round trip with several."""
        asked_at, connection = time.monotonic(), self._connection()
        if asked_at >= self._accepted_at + ACCEPTED_S:
            receive = partial(self._receive, asked_at=asked_at)
            return TripPart(connection, [*commands, WRITE], receive)
        return TripPart(connection, commands, None)

    def exchange_windowed(self, commands: Iterable[Command], window: int) -> list[Any]:
        """For writes only. See `PipelinedConnection.exchange`."""
        return self._connection().exchange(commands, window)

    def check_accepts(self) -> None:
        """Raises RedisError if the server does not accept a write now. Cost: one round trip."""
        asked_at = time.monotonic()
        self._receive(self._exchange([WRITE])[0], asked_at)

    def disconnect(self) -> None:
        """All threads open new connections: the address may lead to another server now."""
        self._server.outdate_connections()

    def _receive(self, answer: Any, asked_at: float) -> None:
        if isinstance(answer, RedisError):
            reached("redis.refused")
            self.disconnect()
            raise RedisRefuses(str(answer)) from answer
        self._accepted_at = asked_at

    def _connection(self) -> PipelinedConnection:
        if self._rests_s and time.monotonic() < self._rests_until:
            raise RedisConnectionError("this node did not answer a moment ago")
        mine, age = self._local, self._server.connection_age
        if getattr(mine, "age", None) != age:
            mine.connection, mine.age = PipelinedConnection(self._open, self._greet), age
        connection: PipelinedConnection = mine.connection
        if self._vouched_for is not self.slots:
            self._vouch(connection)
        return connection

    def _vouch(self, connection: PipelinedConnection) -> None:
        with self._vouching:
            slots = self.slots
            if slots is not None and slots != self._vouched_for:
                vouch_for(connection.exchange, self._database, slots)
            self._vouched_for = slots
