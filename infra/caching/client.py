"""One thin client over redis-py: commands in, replies out, one round trip for any number.

A connection per thread (no pool to check out of), commands packed once and sent together, replies
read in order. Timeouts are short, and after a failure the client rests for REST_S, so that a dead
or hung Redis costs a request milliseconds once, not a timeout per call.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha1
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from hiredis import pack_command
from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

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
    return _known.setdefault(sha := sha1(body.encode(), usedforsecurity=False).hexdigest(), Script(body, sha))


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
            return self._exchange(commands)
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        connection = self._connection()
        sent = _join_gets(commands)
        packed = [b"".join([pack_command(command) for command in sent])]
        try:
            connection.send_packed_command(packed)
            replies = [_reply(connection) for _ in sent]
        except BaseException:
            # Replies may be left in the pipe: a later call must never read them as its own.
            connection.disconnect()
            raise
        return _part_gets(commands, iter(replies))

    def _connection(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._pool.make_connection()
        if connection._sock is None or connection.can_read(timeout=0):
            # Bytes waiting before we asked anything: the server closed it, or it is out of step.
            connection.disconnect()
            connection.connect()
        return connection


class ClusterClient:
    """A Redis Cluster: redis-py finds the node of each key."""

    keys_per_script = 1

    def __init__(self, cluster: RedisCluster) -> None:
        self._cluster = cluster
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        self._breaker.check()
        pipeline = self._cluster.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            replies: list[Any] = pipeline.execute(raise_on_error=False)
        except (RedisConnectionError, RedisTimeoutError):
            self._breaker.trip()
            raise
        return replies


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


def _join_gets(commands: Sequence[Command]) -> list[Command]:
    """GETs that stand side by side travel as one MGET, at a quarter of the cost.

    Only for a single server: on a cluster their keys live on different nodes.
    """
    joined: list[Command] = []
    for is_get, group in groupby(commands, _is_get):
        joined += [("MGET", *[command[1] for command in group])] if is_get else group
    return joined


def _part_gets(commands: Sequence[Command], replies: Iterator[Any]) -> list[Any]:
    """One reply per command again; an error reply of a joined MGET is each one's error."""
    parted: list[Any] = []
    for is_get, group in groupby(commands, _is_get):
        reply = next(replies) if is_get else None
        for index, _ in enumerate(group):
            if not is_get:
                parted.append(next(replies))
            else:
                parted.append(reply if isinstance(reply, RedisError) else reply[index])
    return parted


def _is_get(command: Command) -> bool:
    return bool(command[0] == "GET")


def _with_body(command: Command) -> Command:
    """The same script call carrying its text, for a server that does not know it yet."""
    return ("EVAL", _known[command[1]].body, *command[2:])


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except (RedisConnectionError, RedisTimeoutError):
        raise
    except RedisError as error:
        return error


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
