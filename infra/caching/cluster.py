"""A Redis Cluster with the interface of a single server.

redis-py finds the nodes and knows which node has which slot. Commands go over our own connections,
so replies are the same bytes that a single server sends (redis-py's pipeline parses some of them).
"""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from typing import Any

from redis import RedisCluster
from redis.connection import AbstractConnection
from redis.exceptions import AskError, ClusterDownError, MovedError, RedisClusterException
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.breaker import Pauses
from infra.caching.cluster_slots import ANY_SLOT, SLOTS, slot_of
from infra.caching.connected_server import ConnectedServer
from infra.caching.connection import Command
from infra.caching.joint_trips import exchange_jointly
from infra.caching.server_identity import CLEAR

MOST_REDIRECTIONS = 5
# A node that did not answer is left alone for so long: each of its calls would cost a time-out.
RESTS_S = 1.0
# The nodes are found again this often at most: it costs some CPU, and a time-out if one that hangs
# is asked first. Slots that have moved are followed without it.
FIND_EVERY_S = 1.0
# The server of each slot, and of commands without a key at the end. None: no node has the slot.
SlotTable = list[ConnectedServer | None]


class ClusterClient:
    """A server for each node. Cost: one round trip, with all nodes that have a key at once."""

    keys_per_script = 1
    reads_keys_together = False
    fails_in_part = True
    # Longer than for a single server: while a node is away, each attempt lets calls through to it.
    pauses = Pauses(0.1, 0.15)

    def __init__(self, connect: Callable[[], RedisCluster]) -> None:
        self._connect = connect
        self._cluster: RedisCluster | None = None
        self._is_stale = True
        self._finding = threading.Lock()
        self._found_at = float("-inf")
        self._servers: dict[str, ConnectedServer] = {}
        self._table: SlotTable = []

    def run(self, commands: Sequence[Command]) -> list[Any]:
        with self._finding_again():
            cluster, table = self._find_nodes(), self._table
            replies = _exchange([table[slot_of(command)] for command in commands], commands)
            for _ in range(MOST_REDIRECTIONS):
                if not any(map(isinstance, replies, repeat(AskError))):
                    break
                self._ask_elsewhere(cluster, commands, replies)
        if not self._is_stale and any(map(isinstance, replies, repeat(ClusterDownError))):
            self._leave_behind(cluster, table)
        return replies

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
        with self._finding_again():
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
            elif self._is_stale and time.monotonic() > self._found_at + FIND_EVERY_S:
                self._found_at = time.monotonic()
                self._cluster.nodes_manager.initialize()
            else:
                return self._cluster
            self._table = self._make_table(self._cluster)
            self._is_stale = False
            return self._cluster

    def _make_table(self, cluster: RedisCluster) -> SlotTable:
        """Also tells the servers which slots they have now."""
        table: SlotTable = [None] * (SLOTS + 1)
        slots: dict[str, list[int]] = {name: [] for name in self._servers}
        for slot, nodes in cluster.nodes_manager.slots_cache.items():
            table[slot] = self._server(cluster, nodes[0].name)
            slots.setdefault(nodes[0].name, []).append(slot)
        for name, own in slots.items():
            self._servers[name].slots = frozenset(own)
        default = cluster.get_default_node()  # type: ignore[no-untyped-call]
        table[ANY_SLOT] = self._server(cluster, default.name)
        return table

    def _leave_behind(self, cluster: RedisCluster, table: SlotTable) -> None:
        """A node is cut off, and would name itself for its slots: others are asked first.

        Cost: a round trip for each node, once for each time that the nodes are found again.
        """
        self._is_stale = True
        for name, server in self._servers.items():
            if server in table and not _is_well(server):
                cluster.nodes_manager.move_node_to_end_of_cached_nodes(name)

    def _ask_elsewhere(
        self, cluster: RedisCluster, commands: Sequence[Command], replies: list[Any]
    ) -> None:
        """Replaces the replies that name the nodes which have the keys now."""
        places, servers, sent = list[int](), list[ConnectedServer](), list[Command]()
        for place, reply in enumerate(replies):
            if isinstance(reply, AskError):
                again = _again(commands[place], reply)
                places += [place] * len(again)  # of two replies to one command the last one counts
                servers += [self._server_named_by(cluster, reply)] * len(again)
                sent += again
        for place, reply in zip(places, _exchange(servers, sent), strict=True):
            replies[place] = reply

    def _server_named_by(self, cluster: RedisCluster, error: AskError) -> ConnectedServer:
        """MOVED is for good, ASK while the slot moves."""
        is_for_good = isinstance(error, MovedError)
        if is_for_good:
            cluster.nodes_manager.move_slot(error)
        server = self._server(cluster, f"{error.host}:{error.port}")
        if is_for_good:
            self._is_stale = True  # seldom alone: others have moved, or will
            server.slots = (server.slots or frozenset()) | {error.slot_id}
            self._table[error.slot_id] = server
        return server

    def _server(self, cluster: RedisCluster, name: str) -> ConnectedServer:
        server = self._servers.get(name)
        if server is None:
            node = cluster.get_node(node_name=name)  # type: ignore[no-untyped-call]
            if node is None:
                raise RedisClusterException(f"no node {name} known")
            pool = cluster.get_redis_connection(node).connection_pool
            server = self._servers.setdefault(name, ConnectedServer(pool, RESTS_S))
        return server


def _is_well(server: ConnectedServer) -> bool:
    """Whether it finds itself in the majority. False if it does not answer."""
    try:
        [info] = server.exchange([("CLUSTER", "INFO")])
    except (RedisConnectionError, RedisTimeoutError):
        return False
    return isinstance(info, bytes) and b"cluster_state:ok" in info


def _again(command: Command, error: AskError) -> list[Command]:
    return [command] if isinstance(error, MovedError) else [("ASKING",), command]


def _exchange(servers: Sequence[ConnectedServer | None], commands: Sequence[Command]) -> list[Any]:
    """One reply per command, from its server. The commands to one server keep their order."""
    parts: dict[ConnectedServer, list[Command]] = {}
    for server, command in zip(servers, commands, strict=True):
        if server in parts:
            parts[server].append(command)
        elif server is None:
            raise RedisClusterException("no node has the slot of a key")
        else:
            parts[server] = [command]
    if len(parts) == 1:
        return next(iter(parts)).exchange(commands)
    replies = dict(zip(parts, map(iter, exchange_jointly(parts)), strict=True))
    return [next(replies[server]) for server in servers if server is not None]
