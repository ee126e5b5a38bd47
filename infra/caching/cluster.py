"""A Redis Cluster with the interface of a single server.

redis-py finds the nodes and knows which node has which slot. Commands go over our own connections,
so replies are the same bytes that a single server sends (redis-py's pipeline parses some of them).
"""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from redis import RedisCluster
from redis.connection import AbstractConnection
from redis.exceptions import AskError, MovedError, RedisClusterException, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.breaker import Pauses
from infra.caching.connected_server import ConnectedServer
from infra.caching.connection import Command
from infra.caching.decoding import is_unusable, report_undecodable
from infra.caching.server_identity import CLEAR

MOST_REDIRECTIONS = 5
Call = tuple[str, list[Command]]  # node name, commands to send; the last reply counts


class ClusterClient:
    """A server for each node. Cost: one round trip per node that has a key.

    An MGET becomes one GET per key, because its keys are on different nodes.
    """

    keys_per_script = 1
    # Longer than for a single server: one dead node must not end each call to it with a time-out.
    pauses = Pauses(1.0, 1.0)
    # Nodes pass messages on to each other, at any time later.

    def __init__(self, connect: Callable[[], RedisCluster]) -> None:
        self._connect = connect
        self._cluster: RedisCluster | None = None
        self._is_stale = True
        self._finding = threading.Lock()
        self._servers: dict[str, ConnectedServer] = {}

    def run(self, commands: Sequence[Command]) -> list[Any]:
        with self._finding_again():
            cluster = self._find_nodes()
            replies = iter(self._exchange(cluster, [part for c in commands for part in _parts(c)]))
        return [
            _join(c, list(islice(replies, len(_parts(c))))) if c[0] == "MGET" else next(replies)
            for c in commands
        ]

    def run_windowed(self, commands: Iterable[Command]) -> list[Any]:
        """Same as `run`: each call is about one owner, so Redis serves others in between."""
        return self.run(list(commands))

    def open_connection(self) -> AbstractConnection:
        """A connection to any node: all nodes receive published messages. Finds the nodes again."""
        self._is_stale = True
        try:
            node = random.choice(self._find_nodes().get_nodes())  # type: ignore[no-untyped-call]
        except RedisClusterException as error:
            raise RedisConnectionError(str(error)) from error
        pool = node.redis_connection.connection_pool
        connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
        return connection

    def check_accepts(self) -> None:
        """Of any node: one that is away must not keep a process from the others."""
        for server in self._primaries():
            with suppress(RedisConnectionError, RedisTimeoutError):
                server.check_accepts()
                return
        self._is_stale = True
        raise RedisConnectionError("no node accepts writes")

    def disconnect(self) -> None:
        """Also finds the nodes again: one of them has become a replica."""
        self._is_stale = True
        for server in list(self._servers.values()):
            server.disconnect()

    def clear(self) -> None:
        """Raises RedisConnectionError when a node is away; then call it again."""
        for server in self._primaries():
            server.exchange([CLEAR])

    def _primaries(self) -> list[ConnectedServer]:
        with self._finding_again():
            cluster = self._find_nodes()
            nodes = cluster.get_primaries()  # type: ignore[no-untyped-call]
            return [self._server(cluster, str(node.name)) for node in nodes]

    @contextmanager
    def _finding_again(self) -> Iterator[None]:
        """When a node does not answer, the nodes are found again: slots may have moved."""
        try:
            yield
        except (RedisConnectionError, RedisTimeoutError, RedisClusterException) as error:
            self._is_stale = True
            raise RedisConnectionError(str(error)) from error

    def _find_nodes(self) -> RedisCluster:
        """The known nodes. After a failure they are found again: slots may have moved."""
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
        """One reply per call, by the call's number. The calls of one node share a round trip."""
        replies: dict[int, Any] = {}
        for node in sorted({node for node, _ in calls.values()}):
            mine = {n: commands for n, (at, commands) in calls.items() if at == node}
            sent = [command for commands in mine.values() for command in commands]
            answers = iter(self._server(cluster, node).exchange(sent))
            for n, commands in mine.items():
                replies[n] = list(islice(answers, len(commands)))[-1]
        return replies

    def _server(self, cluster: RedisCluster, name: str) -> ConnectedServer:
        server = self._servers.get(name)
        if server is None:
            node = cluster.get_node(node_name=name)  # type: ignore[no-untyped-call]
            if node is None:
                raise RedisClusterException(f"no node {name} known")
            pool = cluster.get_redis_connection(node).connection_pool
            server = self._servers.setdefault(name, ConnectedServer(pool))
        return server


def _redirect(cluster: RedisCluster, command: Command, error: AskError) -> Call:
    """The call to the node that the reply names: MOVED is for good, ASK while the slot moves."""
    if isinstance(error, MovedError):
        cluster.nodes_manager.move_slot(error)
        return _node_of(cluster, command), [command]
    return f"{error.host}:{error.port}", [("ASKING",), command]


def _node_of(cluster: RedisCluster, command: Command) -> str:
    """The name of the node that has the command's key, or of any node if it has no key."""
    key = _key_of(command)
    if key is None:
        return str(cluster.get_default_node().name)  # type: ignore[no-untyped-call]
    return str(cluster.get_node_from_key(key).name)  # type: ignore[no-untyped-call]


def _parts(command: Command) -> list[Command]:
    return [("GET", key) for key in command[1:]] if command[0] == "MGET" else [command]


def _join(command: Command, replies: list[Any]) -> Any:
    """The reply to an MGET: as on one server, a key of another type counts as missing."""
    for where, reply in zip(command[1:], replies, strict=True):
        if is_unusable(reply):
            report_undecodable(where, reply)
        elif isinstance(reply, RedisError):
            return reply
    return [None if is_unusable(reply) else reply for reply in replies]


def _key_of(command: Command) -> bytes | None:
    """The key follows the command's name, except in scripts."""
    index = 3 if command[0] in ("EVALSHA", "EVAL") else 1
    return command[index] if len(command) > index else None
