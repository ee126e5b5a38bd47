"""A real Redis Cluster of three nodes, each of which a test may kill and bring back."""

from functools import partial

import pytest
from redis import RedisCluster
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.retry import Retry

from infra.caching.client import FeedRedis
from infra.caching.cluster import ClusterClient
from lab.runner.redis_cluster import redis_cluster


@pytest.fixture(scope="module")
def nodes():
    with redis_cluster() as members:
        yield members


@pytest.fixture
def cluster(nodes, monkeypatch):
    """The client of these modules, set to the cluster."""
    for node in nodes:
        node.say("FLUSHALL")
    options = {"socket_timeout": 1, "protocol": 2, "retry": Retry(NoBackoff(), 0)}
    feed = FeedRedis(ClusterClient(partial(RedisCluster.from_url, nodes[0].url, **options)))
    caching = ("loading", "load_tokens", "questions", "round_trips")
    for module in (*(f"infra.caching.{name}" for name in caching), "timelines.stores.packed"):
        monkeypatch.setattr(f"{module}.redis", lambda: feed)
    return feed


def owns(node, slot):
    [mine] = [s for s in node.say("CLUSTER", "SHARDS") if str(node.port) in str(s)]
    ranges = iter(mine["slots"] if isinstance(mine, dict) else mine[1])
    return any(low <= slot <= high for low, high in pairs(ranges))


def pairs(numbers):
    flat = [n for item in numbers for n in (item if isinstance(item, (list, tuple)) else [item])]
    return zip(map(int, flat[::2]), map(int, flat[1::2]), strict=True)


def name_on(node):
    return next(name for n in range(10_000) if owns(node, key_slot(name := b"{%d}" % n)))
