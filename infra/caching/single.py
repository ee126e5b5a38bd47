"""A single Redis server, with the interface that a cluster has too (client_protocol.py)."""

from collections.abc import Iterable, Sequence
from typing import Any

from redis import Redis
from redis.connection import AbstractConnection

from infra.caching.breaker import Pauses
from infra.caching.connected_server import ConnectedServer
from infra.caching.connection import Command
from infra.caching.server_identity import CLEAR


class SingleClient:
    """One Redis server, one connection per thread."""

    keys_per_script = 128
    reads_keys_together = True
    fails_in_part = False
    pauses = Pauses()
    # Redis always has the next command ready, and another client waits for two at most.
    window = 2

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._server = ConnectedServer(self._pool)

    def run(self, commands: Sequence[Command]) -> list[Any]:
        return self._server.exchange(commands)

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        return self._server.exchange_windowed(commands, self.window)

    def check_accepts(self) -> None:
        self._server.check_accepts()

    def disconnect(self) -> None:
        self._server.disconnect()

    def clear(self) -> None:
        self.run([CLEAR])

    def open_connection(self) -> AbstractConnection:
        # Not the pool's make_connection: that one counts up to a limit and never down. After a
        # hundred ended threads no new thread would get a connection.
        return self._pool.connection_class(**self._pool.connection_kwargs)
