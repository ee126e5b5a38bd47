"""One thin client over redis-py: commands in, replies out, one round trip for any number.

A connection per thread (no pool to check out of), commands packed once and sent together, replies
read in order. Timeouts are short, and after a failure the client rests for REST_S, so that a dead
or hung Redis costs a request milliseconds once, not a timeout per call.
"""

import threading
import time
from collections.abc import Sequence
from functools import cache
from hashlib import sha1
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from infra.caching.wire import Wire

REST_S = 1.0
Command = tuple[Any, ...]


class Script(NamedTuple):
    """A Lua script. All its keys belong to one owner, so it runs on one cluster node."""

    body: str
    sha: str

    def on(self, keys: Sequence[bytes], *args: Any) -> Command:
        """The command that runs it."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


def load_script(path: Path) -> Script:
    body = path.read_text()
    return _known.setdefault(
        sha := sha1(body.encode(), usedforsecurity=False).hexdigest(), Script(body, sha)
    )


_known: dict[str, Script] = {}


class Client(Protocol):
    """What the feed needs of Redis.

    `keys_per_script`: how many owners' keys one script call may name. More is cheaper for Redis,
    but a long script keeps readers waiting; a cluster allows only one owner a call.
    """

    keys_per_script: int

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Replies in order, error replies as exception values. Raises when Redis is away."""
        ...


class Breaker:
    """Lets calls through, or answers at once while the server is resting. One per process."""

    def __init__(self) -> None:
        self.closed_until = 0.0

    def check(self) -> None:
        if self.closed_until and time.monotonic() < self.closed_until:
            raise RedisConnectionError("Redis did not answer a moment ago; not asked again yet")

    def trip(self) -> None:
        self.closed_until = time.monotonic() + REST_S


class SingleClient:
    """One Redis server, one connection per thread."""

    keys_per_script = 250

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._local = threading.local()
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        self._breaker.check()
        try:
            return self._wire().exchange(commands)
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise

    def _wire(self) -> Wire:
        wire: Wire | None = getattr(self._local, "wire", None)
        if wire is None:
            wire = self._local.wire = Wire(self._pool.make_connection())
        return wire


class ClusterClient:
    """A Redis Cluster: redis-py finds the node of each key.

    An MGET is asked key by key, since its keys live on different nodes.
    """

    keys_per_script = 1

    def __init__(self, cluster: RedisCluster) -> None:
        self._cluster = cluster
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        self._breaker.check()
        try:
            replies = iter(self._exchange([part for c in commands for part in _parts(c)]))
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise
        return [
            list(islice(replies, len(_parts(c)))) if c[0] == "MGET" else next(replies)
            for c in commands
        ]

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        pipeline = self._cluster.pipeline(transaction=False)  # type: ignore[no-untyped-call]
        for command in commands:
            pipeline.execute_command(*command)
        return list(pipeline.execute(raise_on_error=False))


def _parts(command: Command) -> list[Command]:
    return [("GET", key) for key in command[1:]] if command[0] == "MGET" else [command]


class FeedRedis:
    """The face the apps use: single calls, batches, scripts that reload themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.keys_per_script = client.keys_per_script

    def call(self, *command: Any) -> Any:
        """One command, one round trip. Raises RedisError."""
        return self.run([command])[0]

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """Any number of commands, one round trip. Raises the first error reply, after all ran."""
        if not commands:
            return []
        replies = self._client.run(commands)
        for index, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):
                replies[index] = self._client.run([_with_body(commands[index])])[0]
        for reply in replies:
            if isinstance(reply, RedisError):
                raise reply
        return replies


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
        return FeedRedis(ClusterClient(RedisCluster.from_url(settings.REDIS_URL, **options)))
    return FeedRedis(SingleClient(Redis.from_url(settings.REDIS_URL, **options)))
