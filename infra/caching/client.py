"""One thin client over redis-py: commands in, replies out, one round trip for any number.

A connection per thread (no pool to check out of), commands packed once and sent together, replies
read in order. Timeouts are short, and after a failure the client rests for a second (breaker), so
that a dead or hung Redis costs a request milliseconds once, not a timeout per call.
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
from infra.caching.connection import PipelinedConnection


class LuaScript(NamedTuple):
    """A Lua script. All its keys belong to one owner, so it runs on one cluster node."""

    body: str
    sha: str

    def on(self, keys: Sequence[bytes], *args: Any) -> Command:
        """The command that runs it."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


def load_script(*paths: Path) -> LuaScript:
    """One script of these files, one after the other: what several share comes first."""
    body = "".join([path.read_text() for path in paths])
    return _known.setdefault(
        sha := sha1(body.encode(), usedforsecurity=False).hexdigest(), LuaScript(body, sha)
    )


_known: dict[str, LuaScript] = {}


class Client(Protocol):
    """What the feed needs of Redis.

    `keys_per_script`: how many owners' keys one script call may name. More is cheaper for Redis,
    but a long script keeps readers waiting; a cluster allows only one owner a call.
    """

    keys_per_script: int

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when Redis is away."""
        ...

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """As `run`, but a few at a time: for floods, beside which others want to be served."""
        ...

    def open_connection(self) -> AbstractConnection:
        """A connection of the caller's own, not connected yet. Raises when Redis is away."""
        ...


class SingleClient:
    """One Redis server, one connection per thread."""

    keys_per_script = 128
    # Redis has the next when it is done with one, and whoever comes waits for two at most.
    window = 2

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._local = threading.local()
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        return self._exchange(commands, None)

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        return self._exchange(commands, self.window)

    def _exchange(self, commands: Iterable[Command], window: int | None) -> list[Any]:
        self._breaker.check()
        try:
            replies = self._wire().exchange(commands, window)
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise
        self._breaker.reset()
        return replies

    def open_connection(self) -> AbstractConnection:
        # Not the pool's make_connection: it counts up to a limit and never down again, so that
        # after a hundred threads, long gone, no new one would get a connection.
        return self._pool.connection_class(**self._pool.connection_kwargs)

    def _wire(self) -> PipelinedConnection:
        wire: PipelinedConnection | None = getattr(self._local, "wire", None)
        if wire is None:
            wire = self._local.wire = PipelinedConnection(self.open_connection())
        return wire


class FeedRedis:
    """The face the apps use: single calls, batches, scripts that reload themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.keys_per_script = client.keys_per_script
        self.open_connection = client.open_connection

    def call(self, *command: Any) -> Any:
        """One command, one round trip. Raises RedisError."""
        return self.run([command])[0]

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Any number of commands, one round trip. Raises the first error reply, after all ran.

        Scripts the server does not know are sent again with their text, after the others ran.
        """
        return self._complete(commands, self._client.run(commands)) if commands else []

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """As `run`, a few commands at a time: a flood of them lets other callers in between.

        Each is taken from `commands` when it is its turn. Cost: a round trip for every other one.
        """
        remaining, sent = iter(commands), list[Command]()
        first = list(islice(remaining, 1))
        if not first:
            return []
        replies = self._client.run_windowed(_noted(chain(first, remaining), sent))
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


def _noted(commands: Iterable[Command], sent: list[Command]) -> Iterator[Command]:
    for command in commands:
        sent.append(command)
        yield command


def _with_body(command: Command) -> Command:
    """The same script call carrying its text, for a server that does not know it yet."""
    return ("EVAL", _known[command[1]].body, *command[2:])


@cache
def redis() -> FeedRedis:
    """The process's client; Redis or RedisCluster by setting."""
    timeout_s = settings.REDIS_TIMEOUT_MS / 1000
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
