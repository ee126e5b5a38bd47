"""Lists the keys of Redis, node by node, with SCAN and never KEYS.

For maintenance only: it has its own connections with long timeouts. Requests use client.py.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from redis import Redis

from infra.caching.cluster_nodes import connect_cluster

PATIENCE_S = 5.0


class RedisNode(NamedTuple):
    """A server that holds keys: the only server, or one primary of a cluster."""

    name: str
    client: Redis


class ScanPage(NamedTuple):
    """Matching keys. `cursor`: start of the next page; 0 after the last one."""

    cursor: int
    keys: Sequence[bytes]


def list_nodes(patience_s: float = PATIENCE_S) -> list[RedisNode]:
    """Sorted by name. Raises: RedisError. Cost: one connection per node."""
    options: dict[str, Any] = {
        "socket_timeout": patience_s,
        "socket_connect_timeout": patience_s,
    }
    if not settings.REDIS_CLUSTER:
        return [RedisNode("redis", Redis.from_url(settings.REDIS_URL, **options))]
    cluster = connect_cluster(options)
    nodes: list[Any] = cluster.get_primaries()  # type: ignore[no-untyped-call]
    primaries = sorted(nodes, key=lambda node: str(node.name))
    return [RedisNode(node.name, cluster.get_redis_connection(node)) for node in primaries]


def scan(node: RedisNode, cursor: int, pattern: str, count: int) -> ScanPage:
    """One step, which examines about `count` keys of the node. Cost: one round trip."""
    reply: Any = node.client.scan(cursor, match=pattern, count=count)
    return ScanPage(*reply)


def run_each(node: RedisNode, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Replies in order, errors as values. A command has one key: keys may be on different nodes."""
    pipeline = node.client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
    return pipeline.execute(raise_on_error=False)
