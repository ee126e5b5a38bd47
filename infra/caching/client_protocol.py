"""What the client of the apps needs of one Redis server or of a cluster."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from redis.connection import AbstractConnection

from infra.caching.breaker import Pauses
from infra.caching.connection import Command


class Client(Protocol):
    """What FeedRedis needs of one Redis server or of a cluster.

    `keys_per_script`: how many owners' keys one script call may name. More keys per call are
    cheaper for Redis, but a long script makes readers wait. A cluster allows one owner per call.
    `reads_keys_together`: whether one MGET may name keys of several owners.
    `fails_in_part`: a call may fail because of one node, and the others have run it.
    `pauses`: between attempts to reach a Redis that is away.
    """

    keys_per_script: int
    reads_keys_together: bool
    fails_in_part: bool
    pauses: Pauses

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when Redis is away.

        Also when it refuses writes.
        """
        ...

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Like `run`, but sends a few commands at a time, so that other clients get their turn."""
        ...

    def open_connection(self) -> AbstractConnection:
        """A new connection for the caller, not yet connected. Raises when Redis is away."""
        ...

    def check_accepts(self) -> None:
        """Raises unless Redis accepts a write now; of a cluster, any node."""
        ...

    def disconnect(self) -> None:
        """The next call of each thread opens new connections."""
        ...

    def clear(self) -> None:
        """Deletes all keys. Raises when Redis is away."""
        ...
