"""A Redis Cluster behind the face of a single server.

redis-py finds the nodes and knows who has which slot; the talking is done over our own wires, so
that replies are the same bytes a single server sends (redis-py's pipeline parses some of them).
"""

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from redis import RedisCluster
from redis.connection import AbstractConnection
from redis.exceptions import AskError, MovedError, RedisClusterException
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.breaker import Breaker
from infra.caching.connection import Command, PipelinedConnection

MOST_REDIRECTIONS = 5
Call = tuple[str, list[Command]]  # the node's name, and what to send; the last reply counts


class ClusterClient:
    """One wire per thread and node. One round trip per node concerned.

    An MGET is asked key by key, since its keys live on different nodes.
    """

    keys_per_script = 1

    def __init__(self, connect: Callable[[], RedisCluster]) -> None:
        self._connect = connect
        self._cluster: RedisCluster | None = None
        self._is_stale = True
        self._finding = threading.Lock()
        self._local = threading.local()
        self._breaker = Breaker()

    def run(self, commands: Sequence[Command]) -> list[Any]:
        self._breaker.check()
        try:
            cluster = self._find_nodes()
            replies = iter(self._exchange(cluster, [part for c in commands for part in _parts(c)]))
        except (RedisConnectionError, RedisTimeoutError, RedisClusterException) as error:
            self._is_stale = True
            self._breaker.trip()
            raise RedisConnectionError(str(error)) from error
        self._breaker.reset()
        return [
            list(islice(replies, len(_parts(c)))) if c[0] == "MGET" else next(replies)
            for c in commands
        ]

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Calls of one owner each are short: Redis lets others in between as it is."""
        return self.run(list(commands))

    def open_connection(self) -> AbstractConnection:
        """To any node: they all hear what is published. Which nodes there are is asked anew."""
        self._is_stale = True
        try:
            node = random.choice(self._find_nodes().get_nodes())  # type: ignore[no-untyped-call]
        except RedisClusterException as error:
            raise RedisConnectionError(str(error)) from error
        pool = node.redis_connection.connection_pool
        connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
        return connection

    def _find_nodes(self) -> RedisCluster:
        """Asked again after a failure: the slots may have moved to other nodes."""
        if self._cluster is not None and not self._is_stale:
            return self._cluster
        with self._finding:
            if self._cluster is None:
                self._cluster = self._connect()
            elif self._is_stale:
                self._cluster.nodes_manager.initialize()
            self._is_stale = False
            return self._cluster

    def _exchange(self, cluster: RedisCluster, commands: Sequence[Command]) -> list[Any]:
        first = {n: (_node_of(cluster, c), [c]) for n, c in enumerate(commands)}
        replies = self._ask(cluster, first)
        for _ in range(MOST_REDIRECTIONS):
            elsewhere = {n: r for n, r in replies.items() if isinstance(r, AskError)}
            if not elsewhere:
                break
            again = {n: _redirect(cluster, commands[n], error) for n, error in elsewhere.items()}
            replies |= self._ask(cluster, again)
        return [replies[n] for n in range(len(commands))]

    def _ask(self, cluster: RedisCluster, calls: dict[int, Call]) -> dict[int, Any]:
        """A reply per call, by its number; calls of a node travel together."""
        replies: dict[int, Any] = {}
        # What is told of a write is told after it, also when the write is another node's.
        turns = dict.fromkeys((c[-1][0] == "PUBLISH", node) for node, c in calls.values())
        for told, node in sorted(turns):
            mine = {
                n: commands
                for n, (at, commands) in calls.items()
                if at == node and (commands[-1][0] == "PUBLISH") == told
            }
            answers = iter(
                self._wire(cluster, node).exchange([c for cs in mine.values() for c in cs])
            )
            for n, commands in mine.items():
                replies[n] = list(islice(answers, len(commands)))[-1]
        return replies

    def _wire(self, cluster: RedisCluster, name: str) -> PipelinedConnection:
        wires: dict[str, PipelinedConnection] = self._local.__dict__.setdefault("wires", {})
        if name not in wires:
            node = cluster.get_node(node_name=name)  # type: ignore[no-untyped-call]
            if node is None:
                raise RedisClusterException(f"no node {name} known")
            pool = cluster.get_redis_connection(node).connection_pool
            wires[name] = PipelinedConnection(pool.make_connection())
        return wires[name]


def _redirect(cluster: RedisCluster, command: Command, error: AskError) -> Call:
    """Where the reply says the key is: for good (MOVED), or while its slot is moving (ASK)."""
    if isinstance(error, MovedError):
        cluster.nodes_manager.move_slot(error)
        return _node_of(cluster, command), [command]
    return f"{error.host}:{error.port}", [("ASKING",), command]


def _node_of(cluster: RedisCluster, command: Command) -> str:
    """The name of the node that has the command's key; without a key, of any node."""
    key = _key_of(command)
    if key is None:
        return str(cluster.get_default_node().name)  # type: ignore[no-untyped-call]
    return str(cluster.get_node_from_key(key).name)  # type: ignore[no-untyped-call]


def _parts(command: Command) -> list[Command]:
    return [("GET", key) for key in command[1:]] if command[0] == "MGET" else [command]


def _key_of(command: Command) -> bytes | None:
    """Of our commands only scripts do not have their key right after the name."""
    place = 3 if command[0] in ("EVALSHA", "EVAL") else 1
    return command[place] if len(command) > place else None
