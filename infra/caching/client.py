"""A thin Redis client: commands in, replies out, one round trip for any number of commands.

Each thread has its own connection, so there is no pool to check out of. Timeouts are short, and a
circuit breaker opens after a failure: a dead or hung Redis costs a request one timeout at most.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from hashlib import sha1
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from infra.caching.breaker import Breaker
from infra.caching.cluster import ClusterClient
from infra.caching.connection import Command as Command
from infra.caching.connection import PipelinedConnection, connection_options, open_socket


class LuaScript(NamedTuple):
    """A Lua script. All keys of a call belong to one owner, so it runs on one cluster node."""

    body: str
    sha: str

    def on(self, keys: Sequence[bytes], *args: Any) -> Command:
        """The command that runs the script."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


def load_script(*paths: Path) -> LuaScript:
    """One script made of these files in this order: code that several scripts share comes first."""
    body = "".join([path.read_text() for path in paths])
    return _scripts_by_sha.setdefault(
        sha := sha1(body.encode(), usedforsecurity=False).hexdigest(), LuaScript(body, sha)
    )


_scripts_by_sha: dict[str, LuaScript] = {}


class Client(Protocol):
    """What FeedRedis needs of one Redis server or of a cluster.

    `keys_per_script`: how many owners' keys one script call may name. More keys per call are
    cheaper for Redis, but a long script makes readers wait. A cluster allows one owner per call.
    """

    keys_per_script: int

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when Redis is away."""
        ...

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Like `run`, but sends a few commands at a time, so that other clients get their turn."""
        ...

    def open_connection(self) -> AbstractConnection:
        """A new connection for the caller, not yet connected. Raises when Redis is away."""
        ...


class SingleClient:
    """One Redis server, one connection per thread."""

    keys_per_script = 128
    # Redis always has the next command ready, and another client waits for two at most.
    window = 2

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._open_socket = partial(open_socket, connection_options(self._pool))
        self._local = threading.local()
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        return self._exchange(commands, None)

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        return self._exchange(commands, self.window)

    def _exchange(self, commands: Iterable[Command], window: int | None) -> list[Any]:
        self._breaker.check()
        try:
            replies = self._connection().exchange(commands, window)
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise
        self._breaker.reset()
        return replies

    def open_connection(self) -> AbstractConnection:
        # Not the pool's make_connection: that one counts up to a limit and never down. After a
        # hundred ended threads no new thread would get a connection.
        return self._pool.connection_class(**self._pool.connection_kwargs)

    def _connection(self) -> PipelinedConnection:
        connection: PipelinedConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = PipelinedConnection(self._open_socket)
        return connection


class FeedRedis:
    """The client that the apps use: single calls, batches, scripts that reload themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.keys_per_script = client.keys_per_script
        self.open_connection = client.open_connection

    def call(self, *command: Any) -> Any:
        """One command, one round trip. Raises RedisError."""
        return self.run([command])[0]

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Any number of commands in one round trip. Raises the first error reply, after all ran.

        A script that the server does not know is sent again with its text, after the others ran.
        """
        return self._complete(commands, self._client.run(commands)) if commands else []

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Like `run`, but a few commands at a time, so that Redis serves other clients in between.

        Each command is taken from `commands` just before it is sent. Cost: a round trip for every
        second command.
        """
        remaining, sent = iter(commands), list[Command]()
        first = list(islice(remaining, 1))
        if not first:
            return []
        replies = self._client.run_windowed(_record(chain(first, remaining), sent))
        return self._complete(sent, replies)

    def _complete(self, commands: Sequence[Command], replies: list[Any]) -> list[Any]:
        if not any(map(isinstance, replies, repeat(RedisError))):
            return replies
        failed = [n for n, reply in enumerate(replies) if isinstance(reply, RedisError)]
        unknown = [n for n in failed if isinstance(replies[n], NoScriptError)]
        if unknown:
            again = self._client.run([_with_body(commands[n]) for n in unknown])
            for n, reply in zip(unknown, again, strict=True):
                replies[n] = reply
        for n in failed:
            if isinstance(replies[n], RedisError):
                raise replies[n]
        return replies


def _record(commands: Iterable[Command], sent: list[Command]) -> Iterator[Command]:
    for command in commands:
        sent.append(command)
        yield command


def _with_body(command: Command) -> Command:
    """The same script call with the text, for a server that does not know the script yet."""
    return ("EVAL", _scripts_by_sha[command[1]].body, *command[2:])


@cache
def redis() -> FeedRedis:
    """The client of this process, for one Redis server or for a cluster."""
    return connect_redis(settings.REDIS_TIMEOUT_MS / 1000)


def connect_redis(timeout_s: float) -> FeedRedis:
    """A new client with this limit on the wait for an answer. Use `redis()` unless you need it."""
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
    }
    if settings.REDIS_CLUSTER:
        connect = partial(RedisCluster.from_url, settings.REDIS_URL, **options)
        return FeedRedis(ClusterClient(connect))
    return FeedRedis(SingleClient(Redis.from_url(settings.REDIS_URL, **options)))


# A forked process must not read its parent's replies.
os.register_at_fork(after_in_child=redis.cache_clear)
