"""Finds the nodes of a Redis Cluster by those that REDIS_URL names."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from redis import RedisCluster
from redis.cluster import ClusterNode
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisClusterException

_PORT = 6_379


def connect_cluster(options: Mapping[str, Any]) -> RedisCluster:
    """The cluster of settings, of which one named node must answer. Raises RedisConnectionError.

    Without the others a process could not start, and no command could run, while the first node is
    away. `options`: of each connection.
    """
    others = [_node(url) for url in settings.REDIS_OTHER_NODES]
    try:
        return RedisCluster.from_url(settings.REDIS_URL, startup_nodes=others, **options)
    except RedisClusterException as error:
        raise RedisConnectionError(str(error)) from error


def _node(url: str) -> ClusterNode:
    parts = urlsplit(url)
    return ClusterNode(parts.hostname, parts.port or _PORT)  # type: ignore[no-untyped-call]
